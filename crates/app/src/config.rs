//! Settings, and where each of them came from.
//!
//! A value is taken from the first of: a flag, the environment, the nearest `understory.toml`
//! upward from the working directory, the user's own, the default. `understory status` shows which
//! won. The nearest file is a repository's, written by anybody: it sets only what cannot harm those
//! who cloned it. Reading is all this does: it creates no file and no directory.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use understory_model::secret::Policy;
use understory_model::text::quoted;
use understory_model::{Code, Fault, Role};

use crate::log;

use self::declared::KEYS;
pub use self::declared::{Flags, ServeFlags, Settings};
pub use self::embedding::{Embedding, Endpoint, Secret};
pub use self::file::File;
pub use self::project::{Ignored, Why, inside};
pub use self::store::Address;
pub use self::table::page;
use crate::allowed::Allowed;
use crate::origin::Place;

mod declared;
mod embedding;
mod file;
mod key;
mod keys;
mod project;
mod store;
mod table;

/// The file's name, in a project and in the user's configuration directory.
pub const FILE: &str = "understory.toml";

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

impl<T> Setting<Option<T>> {
    fn map<U>(self, into: fn(T) -> U) -> Setting<Option<U>> {
        Setting {
            value: self.value.map(into),
            source: self.source,
        }
    }
}

/// How an environment variable is looked up.
type Environment = Box<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// The surroundings that settings are read from, so that a test can bring its own.
pub struct Surroundings {
    pub env: Environment,
    pub folder: PathBuf,
    pub home: Option<PathBuf>,
    pub config_dir: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
}

impl Surroundings {
    /// Where processes of this user keep what lives as long as they do.
    pub fn run_folder(&self) -> Option<PathBuf> {
        let runtime = (self.env)("XDG_RUNTIME_DIR").map(PathBuf::from);
        match runtime.filter(|path| path.is_absolute() && path.is_dir()) {
            Some(path) => Some(path.join("understory")),
            None => Some(self.data_dir.as_ref()?.join("understory").join("run")),
        }
    }

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

impl Settings {
    /// Reads flags, environment and files.
    pub fn read(flags: &Flags, around: &Surroundings) -> Result<Settings, Fault> {
        let mut layers = Layers::read(flags, around)?;
        let ignored = std::mem::take(&mut layers.ignored);
        for one in &ignored {
            log::warn_once(format_args!("{one}. Instead: {}.", one.advice()));
        }
        let settings = Settings::from_layers(&layers, ignored)?;
        settings.check_embedding()?;
        Ok(settings)
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

    /// The store, with the password that was set apart from its address.
    fn store(&self, name: &'static str) -> Result<Setting<Address>, Fault> {
        let mut store = store::choose(self.get(name)?, self.around)?;
        let password = self.store_password("store_password")?;
        store::add_password(&mut store, &password)?;
        Ok(store)
    }

    fn store_password(&self, name: &'static str) -> Result<Setting<Option<Secret>>, Fault> {
        let file = self.text("store_password_file")?;
        store::password(self.text(name)?, &file, self.around)
    }

    /// The directory of the key files.
    fn keys(&self, name: &'static str) -> Result<Setting<PathBuf>, Fault> {
        keys::choose(self.get(name)?, &self.store("store")?, self.around)
    }

    fn key_set(&self, name: &'static str) -> Result<Setting<Option<String>>, Fault> {
        Ok(keys::set(self.text(name)?, self.around))
    }

    fn endpoint(&self, name: &'static str) -> Result<Setting<Option<Endpoint>>, Fault> {
        Ok(self.text(name)?.map(Endpoint::new))
    }

    fn secret(&self, name: &'static str) -> Result<Setting<Option<Secret>>, Fault> {
        Ok(self.text(name)?.map(Secret::new))
    }

    /// The workspace that was named. What the user allowed for this place is nearer than any file.
    fn workspace(&self, name: &'static str) -> Result<Setting<Option<String>>, Fault> {
        let named = self.text(name)?;
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

    fn role(&self, name: &'static str) -> Result<Setting<Option<Role>>, Fault> {
        let Some(raw) = self.get(name)? else {
            return Ok(Setting::default(None));
        };
        match raw.text.parse() {
            Ok(role) => Ok(Setting {
                value: Some(role),
                source: raw.source,
            }),
            Err(problem) => Err(wrong(name, &raw.source, problem)),
        }
    }

    fn secrets(&self, name: &'static str) -> Result<Setting<Policy>, Fault> {
        let Some(raw) = self.get(name)? else {
            return Ok(Setting::default(Policy::default()));
        };
        match raw.text.parse() {
            Ok(value) => Ok(Setting {
                value,
                source: raw.source,
            }),
            Err(problem) => Err(wrong(name, &raw.source, problem)),
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

/// The nearest project file upward, if it has the same owner as the folder. Otherwise a file in a
/// shared directory such as `/tmp` could redirect other people's stores.
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
