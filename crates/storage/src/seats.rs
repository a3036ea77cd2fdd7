//! Which sessions have a process on this machine: a locked file for each, beside a SQLite store.
//!
//! The system lets go of a lock when its process dies, however it dies, so nobody has to say that
//! it is still there: an idle process writes nothing. A file is locked before it gets its name and
//! never used again, so a file that can be locked is what a dead process left.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::Result;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use understory_model::canon::{hex, sha256};

use crate::files;

/// How long a key is.
const KEY: usize = 24;
/// What begins the name of a file that is not in place yet.
const NEW: &str = ".new-";

static COUNT: AtomicU64 = AtomicU64::new(0);

/// The folder of the locked files.
pub struct Seats {
    folder: PathBuf,
}

/// The keys of the sessions that have a process.
#[derive(Debug, Default)]
pub struct Taken(BTreeSet<String>);

impl Taken {
    pub fn has(&self, workspace: &str, session: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&key(workspace, session))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A session's place, for as long as this lives.
#[derive(Debug)]
pub struct Seat {
    // Closing it lets go of the lock.
    _file: File,
    path: PathBuf,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        // Only the last to leave finds it empty.
        let _ = self.path.parent().map(std::fs::remove_dir);
    }
}

impl Seats {
    /// Those of a store.
    pub fn beside(store: &Path) -> Seats {
        let store = whole(store);
        let mut folder = store.into_os_string();
        folder.push("-sessions");
        Seats {
            folder: folder.into(),
        }
    }

    /// Takes a place; several processes may have one for the same session.
    pub fn take(&self, workspace: &str, session: &str) -> Result<Seat> {
        if self.folder.is_symlink() {
            return Err(elsewhere());
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let own = format!("{}-{number}", std::process::id());
        let mut again = 3;
        loop {
            files::private_folder(&self.folder)?;
            match self.place(&own, &key(workspace, session)) {
                // The last process to leave may have removed the folder in between.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && again > 0 => {
                    again -= 1;
                }
                done => return done,
            }
        }
    }

    fn place(&self, own: &str, key: &str) -> Result<Seat> {
        let new = self.folder.join(format!("{NEW}{own}"));
        let path = self.folder.join(format!("{key}.{own}"));
        let file = files::lock_file(&new)?;
        file.lock()?;
        std::fs::rename(&new, &path)?;
        Ok(Seat { _file: file, path })
    }

    /// Who has a place now. What the dead left is taken away.
    pub fn taken(&self) -> Taken {
        self.look(|_| true)
    }

    /// Whether a session has a process.
    pub fn is_taken(&self, workspace: &str, session: &str) -> bool {
        let wanted = key(workspace, session);
        !self.look(|key| key == wanted).is_empty()
    }

    fn look(&self, of_interest: impl Fn(&str) -> bool) -> Taken {
        // What looks dead is removed, so it must be ours: not in a folder that a link leads to, and
        // with a name that a seat has.
        if self.folder.is_symlink() {
            return Taken::default();
        }
        let Ok(files) = std::fs::read_dir(&self.folder) else {
            return Taken::default();
        };
        let mut keys = BTreeSet::new();
        for file in files.flatten() {
            let name = file.file_name();
            let Some(key) = name.to_str().and_then(key_of) else {
                continue;
            };
            if of_interest(key) && is_locked(&file.path()) {
                keys.insert(key.to_owned());
            }
        }
        Taken(keys)
    }
}

/// Whether somebody holds a file. Looking takes a shared lock, so that lookers do not meet.
fn is_locked(path: &Path) -> bool {
    let Ok(file) = files::open_plain(path) else {
        return false;
    };
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => false,
        Ok(()) => {
            let _ = std::fs::remove_file(path);
            false
        }
    }
}

fn elsewhere() -> std::io::Error {
    let problem = "the folder of the sessions is a symbolic link";
    std::io::Error::new(std::io::ErrorKind::InvalidInput, problem)
}

/// The key in the name of a seat's file, `<24 hex digits>.<process>-<number>`.
fn key_of(name: &str) -> Option<&str> {
    let (key, own) = name.split_once('.')?;
    let (process, number) = own.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_key = key.len() == KEY && key.bytes().all(|b| b.is_ascii_hexdigit());
    (is_key && digits(process) && digits(number)).then_some(key)
}

/// A file name for any session of any workspace.
fn key(workspace: &str, session: &str) -> String {
    hex(&sha256(format!("{workspace}\n{session}").as_bytes()))[..KEY].to_owned()
}

/// The path as every process writes it, whichever way it came there.
fn whole(store: &Path) -> PathBuf {
    if let Ok(whole) = store.canonicalize() {
        return whole;
    }
    let (folder, name) = (store.parent(), store.file_name());
    match (folder.map(Path::canonicalize), name) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => store.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_while_its_holder_lives() {
        let dir = tempfile::tempdir().unwrap();
        let seats = Seats::beside(&dir.path().join("store.db"));
        assert!(seats.taken().is_empty(), "looking makes nothing");
        assert!(!dir.path().join("store.db-sessions").exists());
        let one = seats.take("w", "s").unwrap();
        let two = seats.take("w", "s").unwrap();
        assert!(seats.is_taken("w", "s") && !seats.is_taken("w2", "s"));
        assert!(seats.taken().has("w", "s"));
        drop(one);
        assert!(seats.is_taken("w", "s"), "the other is still there");
        drop(two);
        assert!(!seats.is_taken("w", "s"));
        assert!(!dir.path().join("store.db-sessions").exists());
    }

    #[test]
    fn what_the_dead_left_is_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let seats = Seats::beside(&dir.path().join("store.db"));
        std::fs::create_dir(dir.path().join("store.db-sessions")).unwrap();
        let left = dir
            .path()
            .join("store.db-sessions")
            .join(format!("{}.9-9", key("w", "s")));
        std::fs::write(&left, "").unwrap();
        assert!(!seats.is_taken("w", "s"));
        assert!(!left.exists());
    }

    #[test]
    fn a_file_of_another_kind_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (seats, folder) = (
            Seats::beside(&dir.path().join("store.db")),
            dir.path().join("store.db-sessions"),
        );
        std::fs::create_dir(&folder).unwrap();
        let other = folder.join("notes.txt");
        std::fs::write(&other, "").unwrap();
        assert!(seats.taken().is_empty());
        assert!(other.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_leads_to_nobodys_files() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let seat = home.join(format!("{}.9-9", key("w", "s")));
        std::fs::write(&seat, "").unwrap();
        std::os::unix::fs::symlink(&home, dir.path().join("store.db-sessions")).unwrap();
        let seats = Seats::beside(&dir.path().join("store.db"));
        assert!(seats.taken().is_empty());
        assert!(seats.take("w", "s").is_err());
        assert_eq!(std::fs::read_dir(&home).unwrap().count(), 1);
        assert!(seat.exists());
    }
}
