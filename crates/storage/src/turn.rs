//! Whose turn it is to write to a SQLite file, among the processes that share it.
//!
//! Two locked files make a turnstile: the process that waits for the turn holds the gate meanwhile,
//! so a process that gives its turn back and wants the next one at once finds the gate shut and
//! stands behind those who came before it. The kernel keeps that line: nobody polls, nobody
//! starves, and a process that dies lets go of both. Nobody waits for ever: after a while a writer
//! is told who holds the turn.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::files;

pub struct Turn {
    shared: Arc<Shared>,
}

struct Shared {
    gate: File,
    turn: File,
    gate_path: PathBuf,
    turn_path: PathBuf,
    state: Mutex<State>,
    changed: Condvar,
}

/// Where this process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// A thread stands in the line, for somebody who waits.
    Waiting,
    /// A thread waits in the queue, but the writer that it waited for has given up.
    GivenUp,
    Taken,
    Failed(ErrorKind),
}

impl Turn {
    /// Opens the lock files beside the store, and makes its folder.
    pub fn open(path: &Path) -> Result<Turn> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            files::private_folder(folder)?;
        }
        let beside = |ending: &str| {
            let mut name: OsString = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let (gate_path, turn_path) = (beside("-queue"), beside("-turn"));
        Ok(Turn {
            shared: Arc::new(Shared {
                gate: files::lock_file(&gate_path)?,
                turn: files::lock_file(&turn_path)?,
                gate_path,
                turn_path,
                state: Mutex::new(State::Outside),
                changed: Condvar::new(),
            }),
        })
    }

    /// Waits until nobody else writes, so long at most. Afterwards the error says who does.
    pub fn take(&self, patience: Duration) -> Result<()> {
        let mut state = self.shared.locked();
        if *state == State::Outside {
            if self.shared.try_take()? {
                *state = State::Taken;
                return Ok(());
            }
            let shared = Arc::clone(&self.shared);
            let stands = std::thread::Builder::new()
                .name("turn".to_owned())
                .stack_size(64 << 10)
                .spawn(move || shared.stand_in_line());
            stands?;
        }
        *state = State::Waiting;
        let end = Instant::now() + patience;
        while *state == State::Waiting {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                *state = State::GivenUp;
                drop(state);
                return Err(self.shared.held(patience));
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        match *state {
            State::Failed(kind) => {
                *state = State::Outside;
                Err(kind.into())
            }
            _ => Ok(()),
        }
    }

    pub fn give_back(&self) {
        let mut state = self.shared.locked();
        if *state == State::Taken {
            *state = State::Outside;
            // Closing the file, which is all that is left to do, would unlock it too.
            let _ = self.shared.turn.unlock();
        }
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the turn if nobody has it and nobody waits for it.
    fn try_take(&self) -> Result<bool> {
        if !tried(self.gate.try_lock())? {
            return Ok(false);
        }
        let taken = tried(self.turn.try_lock());
        self.gate.unlock()?;
        taken
    }

    /// Waits as long as it takes. A writer that gave up meanwhile does not get the turn: it goes on
    /// to the next in the line.
    fn stand_in_line(&self) {
        let taken = self.gate.lock().and_then(|()| {
            let taken = self.turn.lock();
            self.gate.unlock()?;
            taken
        });
        let mut state = self.locked();
        *state = match (taken, *state) {
            (Ok(()), State::Waiting) => State::Taken,
            (Ok(()), _) => {
                let _ = self.turn.unlock();
                State::Outside
            }
            (Err(error), State::Waiting) => State::Failed(error.kind()),
            (Err(_), _) => State::Outside,
        };
        drop(state);
        self.changed.notify_all();
    }

    /// That somebody else held the turn for so long, and who.
    fn held(&self, patience: Duration) -> Error {
        let holder = [&self.turn_path, &self.gate_path]
            .into_iter()
            .find_map(|path| holder(path))
            .unwrap_or_else(|| "another process".to_owned());
        let problem = format!("{holder} has held it for {} s", patience.as_secs());
        Error::new(ErrorKind::TimedOut, problem)
    }
}

fn tried(lock: std::result::Result<(), TryLockError>) -> Result<bool> {
    match lock {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Which process holds a locked file: its number, program and owner, as far as the system tells.
#[cfg(target_os = "linux")]
fn holder(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let inode = format!(":{}", path.metadata().ok()?.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let own = std::process::id().to_string();
    // `1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF`; one that waits has `->` after its number.
    let held = locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [_, "FLOCK", _, _, pid, file, ..] if file.ends_with(&inode) && *pid != own => {
                Some((*pid).to_owned())
            }
            _ => None,
        }
    })?;
    let about = Path::new("/proc").join(&held);
    let program = std::fs::read_to_string(about.join("comm")).unwrap_or_default();
    let program: String = program.chars().filter(|c| !c.is_control()).collect();
    let owner = about
        .metadata()
        .map(|found| format!(", user {}", found.uid()));
    Some(format!(
        "process {held} ({program}{})",
        owner.unwrap_or_default()
    ))
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &Path) -> Option<String> {
    None
}

/// What tells a file from another that later has its name: a store that was deleted or replaced
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

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn store() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("made/x.db");
        (dir, path)
    }

    #[test]
    fn waiting_ends_and_the_turn_is_not_lost() {
        let (_dir, path) = store();
        let (one, other) = (Turn::open(&path).unwrap(), Turn::open(&path).unwrap());
        one.take(LONG).unwrap();
        for _ in 0..3 {
            let error = other.take(Duration::from_millis(10)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
        }
        one.give_back();
        // The thread that queued for the other passes the turn on.
        one.take(LONG).unwrap();
        one.give_back();
        other.take(LONG).unwrap();
        assert!(one.take(Duration::from_millis(10)).is_err());
        other.give_back();
        one.take(LONG).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_file_is_never_at_the_end_of_a_link() {
        let (dir, path) = store();
        std::fs::create_dir(dir.path().join("made")).unwrap();
        let target = dir.path().join("target");
        std::os::unix::fs::symlink(&target, dir.path().join("made/x.db-turn")).unwrap();
        let error = Turn::open(&path).err().unwrap();
        assert!(
            error.to_string().contains("x.db-turn: is a symbolic link"),
            "{error}"
        );
        assert!(!target.exists());
    }
}
