//! One `understory.toml`, read with a clear word about each line that is wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};
use understory_model::nearest::nearest;
use understory_model::{Code, Fault};

use super::KEYS;
use crate::log;

/// No settings file is larger; whatever is, is something else.
const MAX_BYTES: u64 = 1 << 20;

/// A file's settings by their proper names.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    values: BTreeMap<&'static str, String>,
}

impl File {
    pub fn read(path: &Path) -> Result<File, Fault> {
        let unreadable = |problem: &dyn fmt::Display| {
            Fault::new(Code::Validation, format!("{}: {problem}", path.display()))
        };
        let size = std::fs::metadata(path)
            .map_err(|error| unreadable(&error))?
            .len();
        if size > MAX_BYTES {
            return Err(unreadable(&"is too large for a settings file"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(&error))?;
        File::parse(path, &text)
    }

    pub fn parse(path: &Path, text: &str) -> Result<File, Fault> {
        let place = Place { path, text };
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            place.wrong(at, error.message())
        })?;
        let mut values = BTreeMap::new();
        for (name, value) in table.get_ref() {
            let at = name.span().start;
            let key = name.get_ref().as_ref();
            let Some(known) = KEYS
                .iter()
                .find(|known| known.name == key || known.alias == Some(key))
            else {
                return Err(place.unknown(at, key));
            };
            let written = match (value.get_ref(), known.number) {
                (DeValue::String(text), false) => text.to_string(),
                (DeValue::Integer(digits), true) if digits.radix() == 10 => {
                    digits.as_str().replace('_', "")
                }
                (_, false) => {
                    return Err(place.wrong(at, format!("`{key}` must be a string in quotes")));
                }
                (_, true) => return Err(place.wrong(at, format!("`{key}` must be a whole number"))),
            };
            if values.insert(known.name, written).is_some() {
                let other = known.alias.unwrap_or_default();
                let problem = format!("`{}` and `{other}` are the same setting", known.name);
                return Err(place.wrong(at, problem));
            }
        }
        Ok(File {
            path: path.to_owned(),
            values,
        })
    }

    /// Without what only the user sets: a repository's file is written by whoever wrote the
    /// repository.
    pub fn of_a_project(mut self) -> File {
        for key in KEYS.iter().filter(|key| key.own) {
            if self.values.remove(key.name).is_some() {
                log::warn(format_args!(
                    "ignored {} in {}: set {}, or the file in your own configuration directory",
                    key.name,
                    self.path.display(),
                    key.env
                ));
            }
        }
        self
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

/// Where in which file something is wrong.
struct Place<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Place<'_> {
    fn wrong(&self, at: usize, problem: impl fmt::Display) -> Fault {
        let line = self
            .text
            .bytes()
            .take(at)
            .filter(|byte| *byte == b'\n')
            .count()
            + 1;
        Fault::new(
            Code::Validation,
            format!("{}:{line}: {problem}", self.path.display()),
        )
    }

    fn unknown(&self, at: usize, key: &str) -> Fault {
        let names = || {
            KEYS.iter()
                .flat_map(|key| [Some(key.name), key.alias])
                .flatten()
        };
        let close = nearest(key, names(), 1);
        let hint = match close.first() {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!(
                "the settings are {}",
                names().collect::<Vec<_>>().join(", ")
            ),
        };
        self.wrong(at, format!("unknown setting `{key}`"))
            .hint(hint)
    }
}
