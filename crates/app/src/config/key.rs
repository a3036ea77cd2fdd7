//! What is known of a setting: its names, what it means, and who may set it.
//!
//! A repository's file was written by somebody else than the person who cloned it. So a setting is
//! the user's alone unless its declaration says that a repository's file may set it too.

use std::path::PathBuf;

use understory_model::Role;
use understory_model::secret::Policy;

use super::embedding::{Endpoint, Secret};
use super::store::Address;

/// Who may set a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MaySet {
    /// Flags, the environment and the user's own file.
    UserOnly,
    /// A repository's file as well: it cannot harm the person who cloned it.
    Anyone,
    /// A repository's file as well, a number within these bounds.
    Within { least: i64, most: i64 },
    /// A repository's file as well, after the user allowed its content with `understory allow`.
    Allowed,
}

/// How a setting is given on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    None,
    /// To any command.
    Global,
    /// To `understory serve`.
    Serve,
    /// To the commands that declare it themselves.
    Own,
}

/// What is declared of a setting.
pub(super) struct Key {
    /// In a file.
    pub name: &'static str,
    /// In a file that was written for another tool.
    pub alias: Option<&'static str>,
    /// In the environment.
    pub env: &'static str,
    pub flag: Flag,
    pub is_number: bool,
    pub may_set: MaySet,
    pub help: &'static str,
}

impl Key {
    pub const fn new(
        name: &'static str,
        env: &'static str,
        help: &'static str,
        is_number: bool,
    ) -> Key {
        Key {
            name,
            alias: None,
            env,
            flag: Flag::None,
            is_number,
            may_set: MaySet::UserOnly,
            help,
        }
    }

    pub const fn alias(mut self, alias: &'static str) -> Key {
        self.alias = Some(alias);
        self
    }

    pub const fn flag(mut self, flag: Flag) -> Key {
        self.flag = flag;
        self
    }

    pub const fn repository(mut self, may_set: MaySet) -> Key {
        self.may_set = may_set;
        self
    }
}

/// The value of a setting.
pub(super) trait Value {
    /// Whether a file holds it as a number, not as a text.
    const IS_NUMBER: bool = false;

    /// As it may be shown to anybody: no password, no key.
    fn shown(&self) -> String;
}

impl Value for String {
    fn shown(&self) -> String {
        self.clone()
    }
}

/// No number that is set is 0; by default it means that there is no limit.
impl Value for i64 {
    const IS_NUMBER: bool = true;

    fn shown(&self) -> String {
        match self {
            0 => "off".to_owned(),
            number => number.to_string(),
        }
    }
}

impl Value for PathBuf {
    fn shown(&self) -> String {
        self.display().to_string()
    }
}

impl Value for Address {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Value for Role {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Value for Policy {
    fn shown(&self) -> String {
        self.as_str().to_owned()
    }
}

impl Value for Secret {
    fn shown(&self) -> String {
        "***".to_owned()
    }
}

impl Value for Endpoint {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl<V: Value> Value for Option<V> {
    const IS_NUMBER: bool = V::IS_NUMBER;

    fn shown(&self) -> String {
        self.as_ref().map_or_else(|| "-".to_owned(), Value::shown)
    }
}
