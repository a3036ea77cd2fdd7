//! Noticing that any process wrote to a SQLite store, without looking at the store: the system says
//! when its files are written. A server says no such thing, and neither do other systems than Linux.

use std::time::Duration;

use crate::store::Store;

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(not(target_os = "linux"))]
use self::other as system;

/// Notices when a store's files are written.
pub struct Notice(system::Notice);

impl Notice {
    /// `None` where nobody says so.
    pub fn of(store: &Store) -> Option<Notice> {
        system::Notice::of(store).map(Notice)
    }

    /// Waits until a file was written or the time is over; whether one was. What was written may
    /// become visible a moment later: SQLite writes first and shows then.
    pub fn wait(&self, most: Duration) -> bool {
        self.0.wait(most)
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{OsStr, OsString};
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

    use crate::store::Store;

    pub struct Notice {
        events: OwnedFd,
        /// The store's file and the file of what is not in it yet.
        names: [OsString; 2],
    }

    impl Notice {
        pub fn of(store: &Store) -> Option<Notice> {
            let path = store.path()?.canonicalize().ok()?;
            let name = path.file_name()?.to_owned();
            let mut log = name.clone();
            log.push("-wal");
            let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            // The folder, because the file of what is not in the store yet comes and goes.
            inotify::add_watch(&events, path.parent()?, WatchFlags::MODIFY).ok()?;
            let names = [name, log];
            Some(Notice { events, names })
        }

        pub fn wait(&self, most: Duration) -> bool {
            let end = Instant::now() + most;
            loop {
                let left = end.saturating_duration_since(Instant::now());
                let Ok(left) = Timespec::try_from(left) else {
                    return false;
                };
                let mut polled = [PollFd::new(&self.events, PollFlags::IN)];
                match poll(&mut polled, Some(&left)) {
                    Ok(0) => return false,
                    Ok(_) if self.is_ours() => return true,
                    Ok(_) => {}
                    Err(rustix::io::Errno::INTR) => {}
                    Err(_) => {
                        std::thread::sleep(end.saturating_duration_since(Instant::now()));
                        return false;
                    }
                }
            }
        }

        /// Takes the events that have come; whether one is about the store.
        fn is_ours(&self) -> bool {
            let mut buffer = [MaybeUninit::uninit(); 4_096];
            let mut reader = inotify::Reader::new(&self.events, &mut buffer);
            let mut ours = false;
            while let Ok(event) = reader.next() {
                let name = event
                    .file_name()
                    .map(|name| OsStr::from_bytes(name.to_bytes()));
                // Without a name too many events came to tell them apart.
                ours |= name.is_none_or(|name| self.names.iter().any(|ours| ours == name));
            }
            ours
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::time::Duration;

    use crate::store::Store;

    pub enum Notice {}

    impl Notice {
        pub fn of(_: &Store) -> Option<Notice> {
            None
        }

        pub fn wait(&self, _: Duration) -> bool {
            match *self {}
        }
    }
}
