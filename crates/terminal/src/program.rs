//! What to run, and how that can fail.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crate::profile::Profile;

/// A program to run in a terminal.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Variables on top of ours.
    pub env: Vec<(OsString, OsString)>,
    pub cwd: Option<PathBuf>,
    pub profile: Profile,
    /// A command line of ours that calls [`crate::lead`] with what is appended to it: the program
    /// and its arguments. See `leader.rs` for why there is such a process.
    pub leader: Vec<OsString>,
}

impl Program {
    pub(crate) fn name(&self) -> String {
        let name = self.argv.first().cloned().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// Why a program could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no program was named")]
    NoProgram,
    #[error("cannot start {program}: {error}")]
    NotStarted { program: String, error: io::Error },
    #[error("cannot use the terminal: {0}")]
    Terminal(#[from] io::Error),
    #[error("cannot prepare a terminal for the program: {0}")]
    Leader(String),
    #[error("a part of the terminal failed; the program was hung up")]
    Broken,
}
