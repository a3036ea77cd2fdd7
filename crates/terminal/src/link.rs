//! What the threads of a running terminal share: the program's side of it, the person's typing, the
//! screen, and the end.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, kill_process};
use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp};

use crate::pty::{wait, write_all};
use crate::reading::Tty;
use crate::screen::Screen;
use crate::typing::Typing;

/// How often to look at what gives no sign when it changes.
const GLANCE: Duration = Duration::from_millis(20);

/// The person's input.
#[derive(Default)]
struct Gate {
    typing: Typing,
    /// What was typed during a delivery.
    held: Option<Vec<u8>>,
}

pub struct Link {
    master: OwnedFd,
    program: Pid,
    gate: Mutex<Gate>,
    screen: Mutex<Screen>,
    changed: Condvar,
    /// Taken while output is on its way from the program to the person.
    passing: Mutex<()>,
    ended: AtomicBool,
    /// Readable from the end on, so that whoever waits for a file also waits for the end.
    end: OwnedFd,
    ending: OwnedFd,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    pub fn new(master: OwnedFd, program: Pid, screen: Screen) -> io::Result<Link> {
        let (end, ending) = rustix::pipe::pipe()?;
        for side in [&end, &ending] {
            rustix::io::fcntl_setfd(side, rustix::io::FdFlags::CLOEXEC)?;
        }
        Ok(Link {
            master,
            program,
            gate: Mutex::default(),
            screen: Mutex::new(screen),
            changed: Condvar::new(),
            passing: Mutex::new(()),
            ended: AtomicBool::new(false),
            end,
            ending,
        })
    }

    /// Ends every thread.
    pub fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        // One byte that nobody reads; a second one would tell nothing new.
        let _ = rustix::io::write(&self.ending, b".");
        self.changed.notify_all();
    }

    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    pub fn master(&self) -> &OwnedFd {
        &self.master
    }

    /// Passes the person's bytes on until the end. A key is read and written; that somebody types is
    /// noted afterwards.
    pub fn pass_input(&self) -> io::Result<()> {
        let stdin = rustix::stdio::stdin();
        let mut buffer = [0; 16 * 1024];
        loop {
            let waits = [(stdin, PollFlags::IN), (self.end.as_fd(), PollFlags::IN)];
            let [input, end] = wait(waits, None)?;
            if !end.is_empty() {
                return Ok(());
            }
            if input.is_empty() {
                continue;
            }
            match rustix::io::read(stdin, &mut buffer) {
                // The person's terminal is gone. Those whose session it led hear of it from the
                // system; whoever has it only as a file has to say so.
                Ok(0) | Err(Errno::IO) => return Ok(kill_process(getpid(), Signal::HUP)?),
                Ok(length) => self.input(&buffer[..length])?,
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn input(&self, bytes: &[u8]) -> io::Result<()> {
        let mut gate = locked(&self.gate);
        match &mut gate.held {
            Some(held) => held.extend_from_slice(bytes),
            None => {
                self.write(bytes)?;
                gate.typing.feed(bytes, Instant::now());
            }
        }
        Ok(())
    }

    /// Writes to the program, which may take its time to read.
    fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() && !self.ended() {
            match rustix::io::write(&self.master, bytes) {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let end = (self.end.as_fd(), PollFlags::IN);
                    wait([(self.master.as_fd(), PollFlags::OUT), end], None)?;
                }
                // Nobody reads any more. The end of the program is about to be noticed.
                Err(Errno::IO) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Passes the program's bytes on until the end, with a copy for the screen.
    pub fn pass_output(&self) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let master = (self.master.as_fd(), PollFlags::IN);
            let [output, end] = wait([master, (self.end.as_fd(), PollFlags::IN)], None)?;
            if !end.is_empty() {
                return Ok(());
            }
            if output.is_empty() {
                continue;
            }
            let passing = locked(&self.passing);
            let length = match rustix::io::read(&self.master, &mut buffer) {
                Ok(0) | Err(Errno::IO) => return Ok(()),
                Ok(length) => length,
                Err(Errno::INTR | Errno::AGAIN) => continue,
                Err(error) => return Err(error.into()),
            };
            // A terminal that is gone shows nothing; the program goes on until it is told.
            let shown = write_all(rustix::stdio::stdout(), &buffer[..length]);
            locked(&self.screen).feed(&buffer[..length], Instant::now());
            drop(passing);
            self.changed.notify_all();
            if let Err(error) = shown
                && error.raw_os_error() != Some(Errno::IO.raw_os_error())
            {
                return Err(error);
            }
        }
    }

    /// Waits until what the program has written so far is shown. It may have left somebody behind
    /// who writes on, so this takes no longer than told.
    pub fn drain(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until {
            {
                let _passing = locked(&self.passing);
                let now = Some(Duration::ZERO);
                let left = wait([(self.master.as_fd(), PollFlags::IN)], now);
                if !left.is_ok_and(|[left]| left.contains(PollFlags::IN)) {
                    return;
                }
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn resize(&self, rows: u16, columns: u16) {
        locked(&self.screen).resize(rows, columns, Instant::now());
    }

    /// How the program's terminal is set now.
    pub fn tty(&self) -> Tty {
        let modes = tcgetattr(&self.master).map(|modes| modes.local_modes);
        let has = |mode: LocalModes| modes.is_ok_and(|modes| modes.contains(mode));
        Tty {
            foreground: tcgetpgrp(&self.master).is_ok_and(|group| group == self.program),
            canonical: has(LocalModes::ICANON),
            echo: has(LocalModes::ECHO),
        }
    }

    pub fn with_screen<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(&locked(&self.screen))
    }

    /// Waits until something is so, at most for this long and not beyond the end.
    pub fn wait_until(&self, time: Duration, is_so: impl Fn(&Screen) -> bool) -> bool {
        let until = Instant::now() + time;
        let mut screen = locked(&self.screen);
        loop {
            if is_so(&screen) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.ended() {
                return false;
            }
            let waited = self.changed.wait_timeout(screen, left.min(GLANCE));
            (screen, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Holds the person's bytes back until the hold is dropped; then they are passed on, in order.
    pub fn hold(&self) -> Hold<'_> {
        locked(&self.gate).held = Some(Vec::new());
        Hold(self)
    }
}

/// The time in which only a delivery writes to the program.
pub struct Hold<'a>(&'a Link);

impl Hold<'_> {
    pub fn with_typing<T>(&self, work: impl FnOnce(&mut Typing) -> T) -> T {
        work(&mut locked(&self.0.gate).typing)
    }

    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.0.write(bytes)
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut gate = locked(&self.0.gate);
        if let Some(held) = gate.held.take()
            && !held.is_empty()
            // A program that cannot be written to is at its end, which others notice.
            && self.0.write(&held).is_ok()
        {
            gate.typing.feed(&held, Instant::now());
        }
    }
}
