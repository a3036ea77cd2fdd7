//! One process of a kind for each session: whoever holds the lock is it, and the system lets go of
//! the lock when that process dies.

use std::fs::File;
use std::path::{Path, PathBuf};

use understory_engine::files;
use understory_model::Caller;
use understory_model::canon::{hex, sha256};

use crate::config::Surroundings;

/// How often a file that its last holder took away is made again.
const TRIES: usize = 5;

/// Held for as long as it lives.
#[derive(Debug)]
pub struct Lock {
    // Closing it lets go of the lock.
    _file: File,
    path: PathBuf,
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Lock {
    /// Takes the file away: the process ends now.
    pub fn leave(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    /// `None` if another process has it, or there is no place for it.
    pub fn take(kind: &str, caller: &Caller, store: &str, around: &Surroundings) -> Option<Lock> {
        let folder = around.run_folder()?;
        files::private_folder(&folder).ok()?;
        let whose = format!("{store}\n{}\n{}", caller.workspace, caller.session);
        let name = hex(&sha256(whose.as_bytes()));
        Lock::at(&folder.join(format!("{kind}-{}.lock", &name[..24])))
    }

    fn at(path: &Path) -> Option<Lock> {
        for _ in 0..TRIES {
            let file = files::lock_file(path).ok()?;
            file.try_lock().ok()?;
            // Whoever held it may have taken the file away after this one opened it.
            if is_at(&file, path) {
                return Some(Lock {
                    _file: file,
                    path: path.to_owned(),
                });
            }
        }
        None
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("wake.lock");
        let one = Lock::at(&path).unwrap();
        assert!(Lock::at(&path).is_none());
        drop(one);
        assert!(!path.exists());
        assert!(Lock::at(&path).is_some());
    }
}
