//! One `understory.toml`, read with a clear word about each line that is wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};
use understory_model::limits;
use understory_model::nearest::nearest;
use understory_model::text::quoted;
use understory_model::{Code, Fault};

use super::Source;
use super::declared::KEYS;

/// A file's settings by their proper names.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    whose: fn(PathBuf) -> Source,
    text: String,
    values: BTreeMap<&'static str, String>,
}

impl File {
    /// Reads a file of the user's or a repository's, whichever `whose` says.
    pub fn read(path: &Path, whose: fn(PathBuf) -> Source) -> Result<File, Fault> {
        let unreadable = |problem: &dyn fmt::Display| {
            Fault::new(Code::Validation, format!("{}: {problem}", path.display()))
        };
        let size = std::fs::metadata(path)
            .map_err(|error| unreadable(&error))?
            .len();
        if size > limits::SETTINGS_BYTES {
            return Err(unreadable(&"is too large for a settings file"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(&error))?;
        let values = values(path, &text)?;
        Ok(File {
            path: path.to_owned(),
            whose,
            text,
            values,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file says, to the letter.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn source(&self) -> Source {
        (self.whose)(self.path.clone())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.values.remove(name);
    }
}

/// The settings in a text by their proper names.
fn values(path: &Path, text: &str) -> Result<BTreeMap<&'static str, String>, Fault> {
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
        let written = match (value.get_ref(), known.is_number) {
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
    Ok(values)
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
        self.wrong(at, format!("unknown setting {}", quoted(key)))
            .hint(hint)
    }
}
