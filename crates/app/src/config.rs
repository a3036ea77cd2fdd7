//! Settings, and where each of them came from.
//!
//! A value is taken from the first of: a flag, the environment, the nearest `understory.toml`
//! upward from the working directory, the user's own, the default. `understory status` shows which
//! won. Reading is all this does: it creates no file and no directory.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use understory_engine::{CONFLICT_MINUTES, STALE_AFTER};
use understory_model::{Code, Fault, Role};

use crate::log;

pub use self::embedding::{Embedding, Secret};
pub use self::flags::Flags;
pub use self::store::Address;

mod embedding;
mod file;
mod flags;
mod keys;
mod store;

/// The file's name, in a project and in the user's configuration directory.
pub const FILE: &str = "understory.toml";

/// The default lifetime of a claim, in minutes.
const CLAIM_TTL_MINUTES: i64 = 60;
/// How long an idempotency key is remembered, in hours.
const IDEMPOTENCY_HOURS: i64 = 24;
/// A session that missed so many writes is out of touch whatever anybody says.
const MAX_TICKS: i64 = 1_000_000;
/// A year: no claim and no key is kept longer.
const MAX_HOURS: i64 = 366 * 24;

/// Where `understory serve` listens: this machine only.
const LISTEN: &str = "127.0.0.1:7878";
/// Messages a minute that one agent may post, however it is reached.
const MESSAGES_PER_MINUTE: i64 = 600;
/// Calls a second that one agent may make over HTTP, and the most that can be set.
const RATE_PER_SECOND: i64 = 500;
const MAX_RATE: i64 = 1_000_000;

/// A setting's names: in a file, in a file written for another tool, in the environment.
struct Key {
    name: &'static str,
    alias: Option<&'static str>,
    env: &'static str,
    number: bool,
    /// Whether a project's file may not set it.
    own: bool,
}

const fn text(name: &'static str, alias: Option<&'static str>, env: &'static str) -> Key {
    Key {
        name,
        alias,
        env,
        number: false,
        own: false,
    }
}

/// A text that only the user sets, never a file in a repository.
const fn own(name: &'static str, env: &'static str) -> Key {
    Key {
        own: true,
        ..text(name, None, env)
    }
}

const fn number(name: &'static str, env: &'static str) -> Key {
    Key {
        name,
        alias: None,
        env,
        number: true,
        own: false,
    }
}

/// A number that only the user sets.
const fn own_number(name: &'static str, env: &'static str) -> Key {
    Key {
        own: true,
        ..number(name, env)
    }
}

/// Every setting, in the order in which it is shown.
const KEYS: [Key; 25] = [
    text("store", Some("db_path"), "UNDERSTORY_STORE"),
    text("workspace", None, "UNDERSTORY_WORKSPACE"),
    text("project", None, "UNDERSTORY_PROJECT"),
    text("agent", Some("agent_identity"), "UNDERSTORY_AGENT"),
    text("session", None, "UNDERSTORY_SESSION"),
    text("role", None, "UNDERSTORY_ROLE"),
    text("tools", None, "UNDERSTORY_TOOLS"),
    number("claim_ttl_minutes", "UNDERSTORY_CLAIM_TTL_MINUTES"),
    number("idempotency_hours", "UNDERSTORY_IDEMPOTENCY_HOURS"),
    number("stale_after_ticks", "UNDERSTORY_STALE_AFTER_TICKS"),
    number("messages_per_minute", "UNDERSTORY_MESSAGES_PER_MINUTE"),
    number(
        "conflict_window_minutes",
        "UNDERSTORY_CONFLICT_WINDOW_MINUTES",
    ),
    text("listen", None, "UNDERSTORY_LISTEN"),
    text("url", None, "UNDERSTORY_URL"),
    text("keys", None, "UNDERSTORY_KEYS"),
    text("issuer", None, "UNDERSTORY_ISSUER"),
    text("audience", None, "UNDERSTORY_AUDIENCE"),
    text("jwks", None, "UNDERSTORY_JWKS"),
    number("rate_per_second", "UNDERSTORY_RATE_PER_SECOND"),
    own("embedding_url", "UNDERSTORY_EMBEDDING_URL"),
    own("embedding_model", "UNDERSTORY_EMBEDDING_MODEL"),
    own("embedding_key", "UNDERSTORY_EMBEDDING_KEY"),
    own_number("quota_items", "UNDERSTORY_QUOTA_ITEMS"),
    own_number("quota_bytes", "UNDERSTORY_QUOTA_BYTES"),
    own_number("quota_threads", "UNDERSTORY_QUOTA_THREADS"),
];

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Flag(String),
    Env(&'static str),
    File(PathBuf),
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Flag(flag) => f.write_str(flag),
            Source::Env(name) => f.write_str(name),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Default => f.write_str("default"),
        }
    }
}

/// A value, and what set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    pub source: Source,
}

impl<T> Setting<T> {
    fn default(value: T) -> Setting<T> {
        Setting {
            value,
            source: Source::Default,
        }
    }

    /// What is wrong with this value, said with the place to mend it.
    pub fn wrong(&self, key: &str, problem: impl fmt::Display) -> Fault {
        wrong(key, &self.source, problem)
    }
}

/// How an environment variable is looked up.
type Environment = Box<dyn Fn(&str) -> Option<OsString>>;

/// The surroundings that settings are read from, so that a test can bring its own.
pub struct Surroundings {
    pub env: Environment,
    pub folder: PathBuf,
    pub home: Option<PathBuf>,
    pub config_dir: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    pub fn real() -> Result<Surroundings, Fault> {
        let folder = std::env::current_dir().map_err(|error| {
            Fault::new(
                Code::Validation,
                format!("the working directory cannot be read: {error}"),
            )
            .hint("change to a directory that exists")
        })?;
        let user = etcetera::choose_base_strategy().ok();
        Ok(Surroundings {
            env: Box::new(|name| std::env::var_os(name)),
            folder,
            home: user.as_ref().map(|user| user.home_dir().to_owned()),
            config_dir: user.as_ref().map(BaseStrategy::config_dir),
            data_dir: user.as_ref().map(BaseStrategy::data_dir),
        })
    }

    /// The person's own settings file, whether it exists or not.
    pub fn own_file(&self) -> Option<PathBuf> {
        let dir = self.config_dir.as_ref()?;
        Some(dir.join("understory").join(FILE))
    }

    /// An environment variable; one that is set to nothing counts as not set.
    pub fn var(&self, name: &'static str) -> Result<Option<String>, Fault> {
        match (self.env)(name).filter(|value| !value.is_empty()) {
            None => Ok(None),
            Some(value) => value
                .into_string()
                .map(Some)
                .map_err(|_| Fault::new(Code::Validation, format!("{name}: is not UTF-8"))),
        }
    }
}

/// Everything that can be set.
#[derive(Debug, Clone)]
pub struct Settings {
    pub store: Setting<Address>,
    pub workspace: Setting<Option<String>>,
    pub project: Setting<String>,
    pub agent: Setting<Option<String>>,
    pub session: Setting<Option<String>>,
    pub role: Setting<Option<Role>>,
    pub tools: Setting<String>,
    pub claim_ttl_minutes: Setting<i64>,
    pub idempotency_hours: Setting<i64>,
    pub stale_after_ticks: Setting<i64>,
    pub messages_per_minute: Setting<i64>,
    pub conflict_window_minutes: Setting<i64>,
    /// What each workspace may have; 0 is no limit.
    pub quota_items: Setting<i64>,
    pub quota_bytes: Setting<i64>,
    pub quota_threads: Setting<i64>,
    pub listen: Setting<String>,
    /// What others call this server, where that is not where it listens.
    pub url: Setting<Option<String>>,
    /// The directory of the key files.
    pub keys: Setting<PathBuf>,
    pub issuer: Setting<Option<String>>,
    pub audience: Setting<Option<String>>,
    pub jwks: Setting<Option<String>>,
    pub rate_per_second: Setting<i64>,
    /// The model outside that says what texts mean.
    pub embedding: embedding::Settings,
}

impl Settings {
    /// Reads flags, environment and files.
    pub fn read(flags: &Flags, around: &Surroundings) -> Result<Settings, Fault> {
        let layers = Layers::read(flags, around)?;
        let store = store::choose(layers.get("store")?, around)?;
        Ok(Settings {
            listen: layers.text_or("listen", LISTEN)?,
            url: layers.text("url")?,
            keys: keys::choose(layers.get("keys")?, &store.value, around)?,
            issuer: layers.text("issuer")?,
            audience: layers.text("audience")?,
            jwks: keys::set(layers.text("jwks")?, around),
            rate_per_second: layers.number("rate_per_second", RATE_PER_SECOND, MAX_RATE)?,
            embedding: embedding::Settings::read(&layers)?,
            store,
            workspace: layers.text("workspace")?,
            project: layers.text_or("project", "default")?,
            agent: layers.text("agent")?,
            session: layers.text("session")?,
            role: layers.role()?,
            tools: layers.text_or("tools", "essentials")?,
            claim_ttl_minutes: layers.number(
                "claim_ttl_minutes",
                CLAIM_TTL_MINUTES,
                MAX_HOURS * 60,
            )?,
            idempotency_hours: layers.number("idempotency_hours", IDEMPOTENCY_HOURS, MAX_HOURS)?,
            stale_after_ticks: layers.number("stale_after_ticks", STALE_AFTER, MAX_TICKS)?,
            messages_per_minute: layers.number(
                "messages_per_minute",
                MESSAGES_PER_MINUTE,
                MAX_RATE,
            )?,
            conflict_window_minutes: layers.number(
                "conflict_window_minutes",
                CONFLICT_MINUTES.cast_signed(),
                MAX_HOURS * 60,
            )?,
            quota_items: layers.number("quota_items", 0, i64::MAX)?,
            quota_bytes: layers.number("quota_bytes", 0, i64::MAX)?,
            quota_threads: layers.number("quota_threads", 0, i64::MAX)?,
        })
    }

    /// Each setting as it may be shown to anybody: its name, its value and what set it.
    pub fn shown(&self) -> Vec<(&'static str, String, &Source)> {
        let or_unset = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let role = self
            .role
            .value
            .map_or_else(|| "-".to_owned(), |role| role.to_string());
        vec![
            ("store", self.store.value.to_string(), &self.store.source),
            (
                "workspace",
                or_unset(&self.workspace.value),
                &self.workspace.source,
            ),
            ("project", self.project.value.clone(), &self.project.source),
            ("agent", or_unset(&self.agent.value), &self.agent.source),
            (
                "session",
                or_unset(&self.session.value),
                &self.session.source,
            ),
            ("role", role, &self.role.source),
            ("tools", self.tools.value.clone(), &self.tools.source),
            (
                "claim_ttl_minutes",
                self.claim_ttl_minutes.value.to_string(),
                &self.claim_ttl_minutes.source,
            ),
            (
                "idempotency_hours",
                self.idempotency_hours.value.to_string(),
                &self.idempotency_hours.source,
            ),
            (
                "stale_after_ticks",
                self.stale_after_ticks.value.to_string(),
                &self.stale_after_ticks.source,
            ),
            (
                "messages_per_minute",
                self.messages_per_minute.value.to_string(),
                &self.messages_per_minute.source,
            ),
            (
                "conflict_window_minutes",
                self.conflict_window_minutes.value.to_string(),
                &self.conflict_window_minutes.source,
            ),
            ("listen", self.listen.value.clone(), &self.listen.source),
            ("url", or_unset(&self.url.value), &self.url.source),
            (
                "keys",
                self.keys.value.display().to_string(),
                &self.keys.source,
            ),
            ("issuer", or_unset(&self.issuer.value), &self.issuer.source),
            (
                "audience",
                or_unset(&self.audience.value),
                &self.audience.source,
            ),
            ("jwks", or_unset(&self.jwks.value), &self.jwks.source),
            (
                "rate_per_second",
                self.rate_per_second.value.to_string(),
                &self.rate_per_second.source,
            ),
            quota("quota_items", &self.quota_items),
            quota("quota_bytes", &self.quota_bytes),
            quota("quota_threads", &self.quota_threads),
            (
                "embedding_url",
                self.embedding.shown_url(),
                &self.embedding.url.source,
            ),
            (
                "embedding_model",
                or_unset(&self.embedding.model.value),
                &self.embedding.model.source,
            ),
            (
                "embedding_key",
                self.embedding
                    .key
                    .value
                    .as_ref()
                    .map_or("-", |_| "***")
                    .to_owned(),
                &self.embedding.key.source,
            ),
        ]
    }
}

/// A value as it was written, before it is understood.
#[derive(Debug, Clone)]
struct Raw {
    text: String,
    source: Source,
}

/// What was written where, the strongest first.
struct Layers<'a> {
    flags: &'a Flags,
    around: &'a Surroundings,
    files: Vec<file::File>,
}

impl Layers<'_> {
    fn read<'a>(flags: &'a Flags, around: &'a Surroundings) -> Result<Layers<'a>, Fault> {
        let project = nearest_file(&around.folder);
        let user = around.own_file();
        let mut files = Vec::new();
        if let Some(path) = project.filter(|path| Some(path) != user.as_ref()) {
            files.push(file::File::read(&path)?.of_a_project());
        }
        if let Some(path) = user.filter(|path| path.is_file()) {
            files.push(file::File::read(&path)?);
        }
        Ok(Layers {
            flags,
            around,
            files,
        })
    }

    fn get(&self, name: &'static str) -> Result<Option<Raw>, Fault> {
        let Some(key) = KEYS.iter().find(|key| key.name == name) else {
            return Ok(None);
        };
        if let Some(text) = self.flags.get(name) {
            let flag = format!("--{}", name.replace('_', "-"));
            return Ok(Some(Raw {
                text,
                source: Source::Flag(flag),
            }));
        }
        if let Some(text) = self.around.var(key.env)? {
            return Ok(Some(Raw {
                text,
                source: Source::Env(key.env),
            }));
        }
        Ok(self.files.iter().find_map(|file| {
            let text = file.get(name)?.to_owned();
            Some(Raw {
                text,
                source: Source::File(file.path().to_owned()),
            })
        }))
    }

    fn text(&self, name: &'static str) -> Result<Setting<Option<String>>, Fault> {
        Ok(match self.get(name)? {
            Some(raw) => Setting {
                value: Some(raw.text),
                source: raw.source,
            },
            None => Setting::default(None),
        })
    }

    fn text_or(&self, name: &'static str, default: &str) -> Result<Setting<String>, Fault> {
        let Setting { value, source } = self.text(name)?;
        Ok(Setting {
            value: value.unwrap_or_else(|| default.to_owned()),
            source,
        })
    }

    fn role(&self) -> Result<Setting<Option<Role>>, Fault> {
        let Some(raw) = self.get("role")? else {
            return Ok(Setting::default(None));
        };
        match raw.text.parse() {
            Ok(role) => Ok(Setting {
                value: Some(role),
                source: raw.source,
            }),
            Err(problem) => Err(wrong("role", &raw.source, problem)),
        }
    }

    fn number(&self, name: &'static str, default: i64, most: i64) -> Result<Setting<i64>, Fault> {
        let Some(raw) = self.get(name)? else {
            return Ok(Setting::default(default));
        };
        match raw.text.trim().parse() {
            Ok(value) if (1..=most).contains(&value) => Ok(Setting {
                value,
                source: raw.source,
            }),
            _ => {
                let problem = format!("`{}` must be a whole number from 1 to {most}", raw.text);
                Err(wrong(name, &raw.source, problem))
            }
        }
    }
}

/// A quota as it is shown: 0 is none.
fn quota<'s>(name: &'static str, setting: &'s Setting<i64>) -> (&'static str, String, &'s Source) {
    let shown = match setting.value {
        0 => "off".to_owned(),
        most => most.to_string(),
    };
    (name, shown, &setting.source)
}

fn wrong(key: &str, source: &Source, problem: impl fmt::Display) -> Fault {
    Fault::invalid(key, problem).hint(format!("it was set by {source}"))
}

/// The nearest project file upward from `folder`, if it belongs to whom the folder belongs to:
/// anybody may put a file into a shared directory such as `/tmp`, and must not so choose where
/// somebody else's work is stored.
fn nearest_file(folder: &Path) -> Option<PathBuf> {
    let path = folder
        .ancestors()
        .map(|dir| dir.join(FILE))
        .find(|path| path.is_file())?;
    if trusted(&path, folder) {
        return Some(path);
    }
    log::warn(format_args!(
        "ignored {}: it belongs to another user",
        path.display()
    ));
    None
}

#[cfg(unix)]
fn trusted(file: &Path, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| std::fs::metadata(path).map(|data| data.uid());
    match (owner(file), owner(folder)) {
        (Ok(file), Ok(folder)) => file == folder || file == 0,
        _ => false,
    }
}

#[cfg(not(unix))]
fn trusted(_file: &Path, _folder: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests;
