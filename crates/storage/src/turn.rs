//! Whose turn it is to write to a SQLite file, among the processes that share it.
//!
//! Two lock files make a turnstile. Whoever waits for the turn holds the gate meanwhile, so a
//! process that gives its turn back and wants the next one at once finds the gate shut and stands
//! behind those who came before it. The kernel keeps that line: nobody polls, nobody starves, and
//! a process that dies lets go of both.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Result;
use std::path::Path;

pub struct Turn {
    gate: File,
    turn: File,
}

impl Turn {
    /// Opens the lock files beside the store, and makes its folder.
    pub fn open(path: &Path) -> Result<Turn> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)?;
        }
        Ok(Turn {
            gate: lock_file(path, "-queue")?,
            turn: lock_file(path, "-turn")?,
        })
    }

    /// Waits until nobody else writes.
    pub fn take(&self) -> Result<()> {
        self.gate.lock()?;
        let taken = self.turn.lock();
        self.gate.unlock()?;
        taken
    }

    pub fn give_back(&self) {
        // Closing the file, which is all that is left to do, would unlock it too.
        let _ = self.turn.unlock();
    }
}

fn lock_file(path: &Path, ending: &str) -> Result<File> {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(name)
}

/// What tells a file from another that later bears its name: a store that was deleted or replaced
/// must not go on being written where nobody can read it.
#[cfg(unix)]
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path)
        .ok()
        .map(|found| (found.dev(), found.ino()))
}

/// Elsewhere an open file cannot be deleted or replaced.
#[cfg(not(unix))]
pub fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}
