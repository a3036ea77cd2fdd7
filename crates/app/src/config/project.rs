//! What is taken from a repository's `understory.toml`, and what is not.
//!
//! Cloning a repository must be safe, whatever its files say. What a repository may not set
//! is left out and told, with the place to set it instead; it is never an error, so that an agent's
//! server starts wherever it is started.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::declared::KEYS;
use super::file::File;
use super::key::{Key, MaySet};
use super::{Surroundings, store};
use crate::allowed::{Allowed, Known};

/// How the name of a store inside a repository ends: it must not become a file that another program
/// reads or runs.
const ENDINGS: [&str; 3] = ["db", "sqlite", "sqlite3"];
/// What ends the names of the files that a store has beside it.
const BESIDE: [&str; 6] = ["-wal", "-shm", "-journal", "-queue", "-turn", "-sessions"];

/// A line of a repository's file that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    pub setting: &'static str,
    pub file: PathBuf,
    pub why: Why,
    /// The variable that sets it, and the user's own file.
    env: &'static str,
    own: Option<PathBuf>,
}

/// Why a line was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    UserOnly,
    OutOfRange {
        least: i64,
        most: i64,
    },
    /// The store of a repository is inside it, or it has none.
    Outside(Outside),
    NotAllowed,
    ChangedSince,
}

/// How a store leaves its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    Server,
    Path,
    Link,
    Name,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::UserOnly => f.write_str("a repository may not set it"),
            Why::OutOfRange { least, most } => {
                write!(f, "a repository may set it from {least} to {most}")
            }
            Why::Outside(Outside::Server) => {
                f.write_str("a repository may name a file inside it, not a server")
            }
            Why::Outside(Outside::Path) => f.write_str(
                "a repository may name a file inside it, by a path relative to understory.toml",
            ),
            Why::Outside(Outside::Link) => {
                f.write_str("the path leads through a symbolic link, which may lead anywhere")
            }
            Why::Outside(Outside::Name) => {
                write!(f, "the file's name must end with .{}", ENDINGS.join(", ."))
            }
            Why::NotAllowed => f.write_str("you have not allowed this file"),
            Why::ChangedSince => f.write_str("the file has changed since you allowed it"),
        }
    }
}

impl Ignored {
    /// What to do about it.
    pub fn advice(&self) -> String {
        let mut places = format!("set {}", self.env);
        if let Some(own) = &self.own {
            places.push_str(&format!(", or `{}` in {}", self.setting, own.display()));
        }
        match self.why {
            Why::NotAllowed | Why::ChangedSince => format!(
                "read the file, then run `understory allow {}`; otherwise {places}",
                self.file.display()
            ),
            _ => places,
        }
    }
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ignored { setting, file, .. } = self;
        write!(f, "ignored {setting} in {}: {}", file.display(), self.why)
    }
}

/// Takes from the file what a repository may not set, and says what that was.
pub(super) fn restrict(file: &mut File, around: &Surroundings) -> Vec<Ignored> {
    let mut ignored = Vec::new();
    for key in KEYS {
        let Some(value) = file.get(key.name) else {
            continue;
        };
        if let Some(why) = refusal(key, value, file, around) {
            ignored.push(Ignored {
                setting: key.name,
                file: file.path().to_owned(),
                why,
                env: key.env,
                own: around.own_file(),
            });
            file.remove(key.name);
        }
    }
    ignored
}

fn refusal(key: &Key, value: &str, file: &File, around: &Surroundings) -> Option<Why> {
    match key.may_set {
        MaySet::UserOnly => Some(Why::UserOnly),
        MaySet::Anyone => None,
        MaySet::Within { least, most } => {
            let good = value
                .parse()
                .is_ok_and(|value| (least..=most).contains(&value));
            (!good).then_some(Why::OutOfRange { least, most })
        }
        MaySet::Allowed => {
            if let Err(outside) = inside(file.path(), value) {
                return Some(Why::Outside(outside));
            }
            match Allowed::of(around).knows(file.path(), file.text()) {
                Known::Allowed => None,
                Known::Changed => Some(Why::ChangedSince),
                Known::Not => Some(Why::NotAllowed),
            }
        }
    }
}

/// The path of a store that a repository's file names, if it stays beside or below that file: no
/// server, no step upward, no link on the way, and nothing of git's own.
pub fn inside(file: &Path, store: &str) -> Result<PathBuf, Outside> {
    if store::is_server(store) {
        return Err(Outside::Server);
    }
    let mut path = file.parent().unwrap_or(Path::new("")).to_owned();
    if is_link(file) {
        return Err(Outside::Link);
    }
    let mut steps = 0;
    for step in Path::new(store).components() {
        let name = match step {
            Component::CurDir => continue,
            Component::Normal(name) => name.to_str().ok_or(Outside::Path)?,
            _ => return Err(Outside::Path),
        };
        let git = name.to_ascii_lowercase().starts_with(".git");
        if git || (steps == 0 && name.starts_with('~')) || name.ends_with(':') {
            return Err(Outside::Path);
        }
        path.push(name);
        steps += 1;
        if is_link(&path) {
            return Err(Outside::Link);
        }
    }
    let has_link = |ending: &&str| {
        let mut name = path.clone().into_os_string();
        name.push(ending);
        is_link(Path::new(&name))
    };
    if BESIDE.iter().any(has_link) {
        return Err(Outside::Link);
    }
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending {
        Some(ending) if steps > 0 && ENDINGS.contains(&ending) => Ok(path),
        _ => Err(Outside::Name),
    }
}

fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}
