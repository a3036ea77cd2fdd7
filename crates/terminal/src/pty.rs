//! The two terminals: the person's, which we put into raw mode and always put back, and the
//! program's, which we make.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    OptionalActions, Termios, Winsize, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize,
};

/// A new terminal: our side, which does not block, and the program's.
pub fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    // Nobody but us may hold our side, or the program would not notice our end.
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
    let flags = rustix::fs::fcntl_getfl(&master)?;
    rustix::fs::fcntl_setfl(&master, flags | OFlags::NONBLOCK)?;
    Ok((master, slave))
}

/// The person's terminal in raw mode, until this is dropped.
pub struct Raw {
    saved: Mutex<Termios>,
}

impl Raw {
    pub fn new() -> io::Result<Raw> {
        let saved = Mutex::new(tcgetattr(rustix::stdio::stdin())?);
        let raw = Raw { saved };
        raw.enter()?;
        Ok(raw)
    }

    fn enter(&self) -> io::Result<()> {
        let mut modes = self
            .saved
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        modes.make_raw();
        Ok(tcsetattr(
            rustix::stdio::stdin(),
            OptionalActions::Now,
            &modes,
        )?)
    }

    /// As it was, while we are stopped.
    pub fn leave(&self) -> io::Result<()> {
        let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(tcsetattr(
            rustix::stdio::stdin(),
            OptionalActions::Now,
            &saved,
        )?)
    }

    /// Raw again after we were stopped. What the person set meanwhile is what is put back at the end.
    pub fn again(&self) -> io::Result<()> {
        let now = tcgetattr(rustix::stdio::stdin())?;
        if now
            .local_modes
            .contains(rustix::termios::LocalModes::ICANON)
        {
            *self.saved.lock().unwrap_or_else(PoisonError::into_inner) = now;
        }
        self.enter()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = self.leave();
    }
}

/// The modes and the size of the person's terminal, for the program's.
pub fn copy_modes(slave: &OwnedFd) -> io::Result<Winsize> {
    tcsetattr(
        slave,
        OptionalActions::Now,
        &tcgetattr(rustix::stdio::stdin())?,
    )?;
    copy_size(slave)
}

pub fn copy_size(to: impl AsFd) -> io::Result<Winsize> {
    let size = tcgetwinsize(rustix::stdio::stdout())?;
    tcsetwinsize(to, size)?;
    Ok(size)
}

/// Waits for one of several files; how each is, or nothing if the time is over.
pub fn wait<const N: usize>(
    files: [(BorrowedFd<'_>, PollFlags); N],
    time: Option<Duration>,
) -> io::Result<[PollFlags; N]> {
    let mut files = files.map(|(file, flags)| PollFd::from_borrowed_fd(file, flags));
    let time = time.and_then(|time| Timespec::try_from(time).ok());
    loop {
        match poll(&mut files, time.as_ref()) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(files.each_ref().map(PollFd::revents)),
        }
    }
}

/// Writes all of it to a file that blocks.
pub fn write_all(file: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // Somebody else who has the terminal made it so.
            Err(Errno::AGAIN) => {
                wait([(file, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
