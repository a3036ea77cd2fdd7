//! A key on its way through the managed terminal, to the program and back.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

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
struct Terminal {
    master: OwnedFd,
    child: Child,
}

impl Terminal {
    fn start(mut command: Command) -> Outcome<Terminal> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
        command
            .stdin(Stdio::from(slave.try_clone()?))
            .stdout(Stdio::from(slave.try_clone()?))
            .stderr(Stdio::from(slave));
        let child = command.spawn()?;
        let terminal = Terminal { master, child };
        let mut greeting = Vec::new();
        while !greeting.ends_with(b"ready") {
            let mut buffer = [0; 64];
            let length = rustix::io::read(&terminal.master, &mut buffer)?;
            greeting.extend_from_slice(&buffer[..length]);
        }
        Ok(terminal)
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
