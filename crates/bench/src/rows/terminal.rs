//! A key on its way through the managed terminal, to the program and back.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::in_turns;
use crate::table::Line;

/// Gives back each byte as it comes.
const ECHO: [&str; 3] = ["sh", "-c", "stty raw -echo; printf ready; exec cat"];

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut managed = Command::new(&bench.binary);
    managed.args(["run", "--"]).args(ECHO);
    let mut plain = Command::new(ECHO[0]);
    plain.args(&ECHO[1..]);
    let (managed, plain) = (Terminal::start(managed)?, Terminal::start(plain)?);
    let samples = in_turns(
        bench.pace(80, 50),
        &mut [&mut || managed.key(), &mut || plain.key()],
    )?;
    let [ours, floor] = samples.as_slice() else {
        return Err("sides".into());
    };
    // The way has two more terminals and a process in it.
    let what = "keystroke through the managed terminal to a plain pty pair, p50";
    Ok(vec![
        Line::times(what, ours.p50(), floor.p50()).at_most(4.0),
        Line::times("… p99", ours.p99(), floor.p99()),
    ])
}

/// A terminal of which we are the person.
pub struct Terminal {
    master: OwnedFd,
    child: Child,
}

/// The size of a terminal: without one, a program in it has no row to write on.
const SIZE: Winsize = Winsize {
    ws_row: 40,
    ws_col: 120,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

impl Terminal {
    /// Starts a program in one, and waits until it has written "ready".
    fn start(command: Command) -> Outcome<Terminal> {
        let terminal = Terminal::open(command)?;
        terminal.until(b"ready")?;
        Ok(terminal)
    }

    pub fn open(mut command: Command) -> Outcome<Terminal> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
        tcsetwinsize(&slave, SIZE)?;
        command
            .stdin(Stdio::from(slave.try_clone()?))
            .stdout(Stdio::from(slave.try_clone()?))
            .stderr(Stdio::from(slave));
        let child = command.spawn()?;
        Ok(Terminal { master, child })
    }

    /// Reads until something was written in it.
    pub fn until(&self, end: &[u8]) -> Outcome {
        let mut read = Vec::new();
        while !read.ends_with(end) {
            let mut buffer = [0; 64];
            let length = rustix::io::read(&self.master, &mut buffer)?;
            read.extend_from_slice(&buffer[..length]);
        }
        Ok(())
    }

    /// Types something.
    pub fn types(&self, text: &[u8]) -> Outcome {
        rustix::io::write(&self.master, text)?;
        Ok(())
    }

    /// Reads whatever is written from now on, so that its programs never wait for that.
    pub fn drain(&self) -> Outcome {
        let master = self.master.try_clone()?;
        std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            while let Ok(1..) = rustix::io::read(&master, &mut buffer) {}
        });
        Ok(())
    }

    /// How long a key takes until it is back.
    fn key(&self) -> Outcome<Duration> {
        let mut buffer = [0];
        let start = Instant::now();
        rustix::io::write(&self.master, b"x")?;
        rustix::io::read(&self.master, &mut buffer)?;
        Ok(start.elapsed())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
