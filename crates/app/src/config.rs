//! Settings, and where each of them came from.
//!
//! A value is taken from the first of: a flag, the environment, the nearest `understory.toml`
//! upward from the working directory, the user's own, the default. `understory status` shows which
//! won. The nearest file is a repository's, written by anybody: it sets only what cannot harm whoever
//! cloned it. Reading is all this does: it creates no file and no directory.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use understory_engine::{CONFLICT_MINUTES, STALE_AFTER};
use understory_model::limits;
use understory_model::secret::Policy;
use understory_model::text::quoted;
use understory_model::{Code, Fault, Role};

use crate::log;

pub use self::embedding::{Embedding, Secret};
pub use self::file::File;
pub use self::flags::Flags;
use self::key::KEYS;
pub use self::project::{Ignored, Why, inside};
pub use self::store::Address;
use crate::allowed::Allowed;
use crate::origin::Place;

mod embedding;
mod file;
mod flags;
mod key;
mod keys;
mod project;
mod shown;
mod store;

/// The file's name, in a project and in the user's configuration directory.
pub const FILE: &str = "understory.toml";

/// The default lifetime of a claim, in minutes.
const CLAIM_TTL_MINUTES: i64 = 60;
/// How long an idempotency key is remembered, in hours.
const IDEMPOTENCY_HOURS: i64 = 24;

/// Where `understory serve` listens: this machine only.
const LISTEN: &str = "127.0.0.1:7878";
/// Messages a minute that one agent may post, however it is reached.
const MESSAGES_PER_MINUTE: i64 = 600;
/// Calls a second that one agent may make over HTTP, and the most that can be set.
const RATE_PER_SECOND: i64 = 500;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Flag(String),
    Env(&'static str),
    /// The user's own file.
    File(PathBuf),
    /// A repository's file.
    Repository(PathBuf),
    /// `understory allow --workspace` for the repository at this path.
    Joined(PathBuf),
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Flag(flag) => f.write_str(flag),
            Source::Env(name) => f.write_str(name),
            Source::File(path) | Source::Repository(path) => write!(f, "{}", path.display()),
            Source::Joined(path) => write!(f, "understory allow, for {}", path.display()),
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
    /// What is done about credentials in the arguments of a call.
    pub secrets: Setting<Policy>,
    /// What each workspace may have; 0 is no limit.
    pub quota_items: Setting<i64>,
    pub quota_bytes: Setting<i64>,
    pub quota_threads: Setting<i64>,
    pub listen: Setting<String>,
    /// What others call this server, where that is not where it listens.
    pub url: Setting<Option<String>>,
    /// The certificate that `understory serve` shows, and its key.
    pub tls_cert: Setting<Option<PathBuf>>,
    pub tls_key: Setting<Option<PathBuf>>,
    /// The directory of the key files.
    pub keys: Setting<PathBuf>,
    pub issuer: Setting<Option<String>>,
    pub audience: Setting<Option<String>>,
    pub jwks: Setting<Option<String>>,
    /// Which workspaces and roles the issuer's tokens may name.
    pub issuer_workspaces: Setting<Option<String>>,
    pub issuer_roles: Setting<Option<String>>,
    pub rate_per_second: Setting<i64>,
    /// The model outside that says what texts mean.
    pub embedding: embedding::Settings,
    pub store_password: Setting<Option<Secret>>,
    pub store_password_file: Setting<Option<String>>,
    /// What the repository's file set and may not.
    pub ignored: Vec<Ignored>,
}

impl Settings {
    /// Reads flags, environment and files.
    pub fn read(flags: &Flags, around: &Surroundings) -> Result<Settings, Fault> {
        let mut layers = Layers::read(flags, around)?;
        let ignored = std::mem::take(&mut layers.ignored);
        for one in &ignored {
            log::warn_once(format_args!("{one}. Instead: {}.", one.advice()));
        }
        let mut store = store::choose(layers.get("store")?, around)?;
        let store_password_file = layers.text("store_password_file")?;
        let store_password =
            store::password(layers.text("store_password")?, &store_password_file, around)?;
        store::add_password(&mut store, &store_password)?;
        Ok(Settings {
            store_password,
            store_password_file,
            ignored,
            secrets: layers.secrets()?,
            listen: layers.text_or("listen", LISTEN)?,
            url: layers.text("url")?,
            tls_cert: layers.path("tls_cert")?,
            tls_key: layers.path("tls_key")?,
            keys: keys::choose(layers.get("keys")?, &store, around)?,
            issuer: layers.text("issuer")?,
            audience: layers.text("audience")?,
            jwks: keys::set(layers.text("jwks")?, around),
            issuer_workspaces: layers.text("issuer_workspaces")?,
            issuer_roles: layers.text("issuer_roles")?,
            rate_per_second: layers.number(
                "rate_per_second",
                RATE_PER_SECOND,
                limits::RATE_PER_SECOND,
            )?,
            embedding: embedding::Settings::read(&layers)?,
            store,
            workspace: layers.workspace()?,
            project: layers.text_or("project", "default")?,
            agent: layers.text("agent")?,
            session: layers.text("session")?,
            role: layers.role()?,
            tools: layers.text_or("tools", "essentials")?,
            claim_ttl_minutes: layers.number(
                "claim_ttl_minutes",
                CLAIM_TTL_MINUTES,
                limits::KEPT_HOURS * 60,
            )?,
            idempotency_hours: layers.number(
                "idempotency_hours",
                IDEMPOTENCY_HOURS,
                limits::KEPT_HOURS,
            )?,
            stale_after_ticks: layers.number(
                "stale_after_ticks",
                STALE_AFTER,
                limits::STALE_TICKS,
            )?,
            messages_per_minute: layers.number(
                "messages_per_minute",
                MESSAGES_PER_MINUTE,
                limits::RATE_PER_SECOND,
            )?,
            conflict_window_minutes: layers.number(
                "conflict_window_minutes",
                CONFLICT_MINUTES.cast_signed(),
                limits::KEPT_HOURS * 60,
            )?,
            quota_items: layers.number("quota_items", 0, i64::MAX)?,
            quota_bytes: layers.number("quota_bytes", 0, i64::MAX)?,
            quota_threads: layers.number("quota_threads", 0, i64::MAX)?,
        })
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
    files: Vec<File>,
    ignored: Vec<Ignored>,
}

impl Layers<'_> {
    fn read<'a>(flags: &'a Flags, around: &'a Surroundings) -> Result<Layers<'a>, Fault> {
        let project = nearest_file(&around.folder);
        let user = around.own_file();
        let (mut files, mut ignored) = (Vec::new(), Vec::new());
        if let Some(path) = project.filter(|path| Some(path) != user.as_ref()) {
            let mut file = File::read(&path, Source::Repository)?;
            ignored = project::restrict(&mut file, around);
            files.push(file);
        }
        if let Some(path) = user.filter(|path| path.is_file()) {
            files.push(File::read(&path, Source::File)?);
        }
        Ok(Layers {
            flags,
            around,
            files,
            ignored,
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
                source: file.source(),
            })
        }))
    }

    /// The workspace that was named. What the user allowed for this place is nearer than any file.
    fn workspace(&self) -> Result<Setting<Option<String>>, Fault> {
        let named = self.text("workspace")?;
        if matches!(named.source, Source::Flag(_) | Source::Env(_)) {
            return Ok(named);
        }
        let place = Place::of(&self.around.folder);
        Ok(match Allowed::of(self.around).workspace(&place) {
            Some(name) => Setting {
                value: Some(name),
                source: Source::Joined(place.path),
            },
            None => named,
        })
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

    /// A file's path, as it was meant where it was written.
    fn path(&self, name: &'static str) -> Result<Setting<Option<PathBuf>>, Fault> {
        let Setting { value, source } = self.text(name)?;
        let value = value.map(|text| store::path(&text, &source, self.around));
        Ok(Setting { value, source })
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

    fn secrets(&self) -> Result<Setting<Policy>, Fault> {
        let Some(raw) = self.get("secrets")? else {
            return Ok(Setting::default(Policy::default()));
        };
        match raw.text.parse() {
            Ok(value) => Ok(Setting {
                value,
                source: raw.source,
            }),
            Err(problem) => Err(wrong("secrets", &raw.source, problem)),
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
                let given = quoted(&raw.text);
                let problem = format!("{given} must be a whole number from 1 to {most}");
                Err(wrong(name, &raw.source, problem))
            }
        }
    }
}

fn wrong(key: &str, source: &Source, problem: impl fmt::Display) -> Fault {
    Fault::invalid(key, problem).hint(format!("it was set by {source}"))
}

/// The nearest project file upward from `folder`, if it belongs to whom the folder belongs to:
/// anybody may put a file into a shared directory such as `/tmp`, and must not so choose where
/// somebody else's work is stored.
pub fn nearest_file(folder: &Path) -> Option<PathBuf> {
    let path = folder
        .ancestors()
        .map(|dir| dir.join(FILE))
        .find(|path| path.is_file())?;
    if trusted(&path, folder) {
        return Some(path);
    }
    log::warn_once(format_args!(
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
