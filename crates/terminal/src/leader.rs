//! The process between us and the program: it leads the session in the program's terminal.
//!
//! It exists for three reasons. A program whose parent is outside of its session cannot be stopped
//! with Ctrl-Z: the kernel ignores the stop, as nobody could continue it; with a leader as its parent
//! it can. The leader outlives us if we are killed: it puts the person's terminal back and ends the
//! program. And what prepares a terminal for a program runs here as ordinary code, instead of between
//! fork and exec.
//!
//! Its standard input is the program's terminal, its output is the person's, and on its standard
//! error stream it reports to us. It stops itself when the program stops, and continues the program
//! when it is continued; it ends with the program.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, ioctl_tiocsctty, kill_process,
    kill_process_group, setsid, waitpid,
};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTTIN, SIGTTOU};
use signal_hook::iterator::Signals;

use crate::pty::{wait, write_all};

/// How long a program may take to end after its terminal is gone.
const GRACE: Duration = Duration::from_secs(2);

/// What the leader tells us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    Started(Pid),
    /// The program could not be started, for this reason of the system's.
    Failed(i32),
    /// The program was ended by a signal.
    Killed(i32),
}

impl Report {
    fn send(self) {
        let line = match self {
            Report::Started(pid) => format!("started {}\n", pid.as_raw_pid()),
            Report::Failed(errno) => format!("failed {errno}\n"),
            Report::Killed(signal) => format!("killed {signal}\n"),
        };
        // If we are gone, nobody needs it.
        let _ = io::stderr().write_all(line.as_bytes());
    }

    pub fn read(line: &str) -> Option<Report> {
        let (what, number) = line.trim_end().split_once(' ')?;
        let number = number.parse().ok()?;
        match what {
            "started" => Pid::from_raw(number).map(Report::Started),
            "failed" => Some(Report::Failed(number)),
            "killed" => Some(Report::Killed(number)),
            _ => None,
        }
    }
}

/// Leads the session of a program: the whole life of a process that [`crate::run`] starts.
/// Returns the program's exit code.
pub fn lead(argv: &[OsString]) -> u8 {
    match started(argv) {
        Ok(mut leader) => leader.watch(),
        Err(error) => {
            Report::Failed(error.raw_os_error().unwrap_or_default()).send();
            127
        }
    }
}

struct Leader {
    program: Pid,
    signals: Signals,
    /// The person's terminal as it was.
    outer: Option<Termios>,
    hung_up: Option<Instant>,
}

fn started(argv: &[OsString]) -> io::Result<Leader> {
    let outer = tcgetattr(rustix::stdio::stdout()).ok();
    let signals = Signals::new([SIGCHLD, SIGHUP, SIGTERM, SIGINT, SIGQUIT])?;
    setsid()?;
    let terminal = io::stdin();
    ioctl_tiocsctty(&terminal)?;
    let (name, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let side = || terminal.as_fd().try_clone_to_owned().map(Stdio::from);
    let child = Command::new(name)
        .args(arguments)
        .stdin(side()?)
        .stdout(side()?)
        .stderr(side()?)
        .process_group(0)
        .spawn()?;
    let program = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let program = program.ok_or(io::ErrorKind::InvalidData)?;
    // It fails if the program has ended already.
    let _ = tcsetpgrp(&terminal, program);
    Report::Started(program).send();
    Ok(Leader {
        program,
        signals,
        outer,
        hung_up: None,
    })
}

impl Leader {
    fn watch(&mut self) -> u8 {
        loop {
            // The first look comes before the first signal: the program may have ended by then.
            if let Some(code) = self.reap() {
                return code;
            }
            for signal in self.next_signals() {
                self.pass(signal);
            }
        }
    }

    /// The next signals; without a terminal, a moment later at the latest, to count the time.
    fn next_signals(&mut self) -> Vec<i32> {
        let Some(since) = self.hung_up else {
            return self.signals.wait().collect();
        };
        if since.elapsed() > GRACE {
            self.tell(Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(10));
        self.signals.pending().collect()
    }

    /// Notes what happened to the program; its exit code if it has ended.
    fn reap(&mut self) -> Option<u8> {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED;
        loop {
            match waitpid(Some(self.program), options) {
                Ok(Some((_, status))) if status.stopped() => self.stopped(status),
                Ok(Some((_, status))) => return Some(ended(status)),
                Ok(None) | Err(rustix::io::Errno::INTR) => return None,
                Err(_) => return Some(1),
            }
        }
    }

    /// The program stopped: so do we, until we are continued, and then it is.
    fn stopped(&self, status: WaitStatus) {
        let early = [Some(SIGTTIN), Some(SIGTTOU)].contains(&status.stopping_signal());
        let reads = tcgetpgrp(io::stdin()).is_ok_and(|group| group == self.program);
        // It used the terminal before it was given to it; now it has it.
        if !(early && reads) {
            let _ = kill_process(getpid(), Signal::STOP);
        }
        self.tell(Signal::CONT);
    }

    fn tell(&self, signal: Signal) {
        // A program that has ended is noticed elsewhere.
        let _ = kill_process_group(self.program, signal);
    }

    fn pass(&mut self, signal: i32) {
        if signal == SIGCHLD {
            return;
        }
        if let Some(signal) = Signal::from_named_raw(signal) {
            self.tell(signal);
        }
        // A stopped program could not even end.
        self.tell(Signal::CONT);
        if signal == SIGHUP && self.hung_up.is_none() && terminal_is_gone() {
            self.hung_up = Some(Instant::now());
            self.put_back();
        }
    }

    /// Puts the person's terminal back, since whoever should have was killed. If somebody else set
    /// it meanwhile, such as their shell, it is theirs.
    fn put_back(&self) {
        let stdout = rustix::stdio::stdout();
        let (Some(saved), Ok(now)) = (&self.outer, tcgetattr(stdout)) else {
            return;
        };
        let mut raw = saved.clone();
        raw.make_raw();
        let same = now.local_modes == raw.local_modes && now.input_modes == raw.input_modes;
        if same {
            let _ = tcsetattr(stdout, OptionalActions::Now, saved);
        }
        let _ = write_all(stdout, UNDO);
    }
}

/// Switches off what a full-screen program switches on. The alternate screen is left in the way that
/// does nothing where it was not entered.
const UNDO: &[u8] = b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\
    \x1b[?1047l\x1b[<u\x1b[?1l\x1b>\x1b[?25h\x1b[0m\r\n";

/// Our other side was closed: whoever started us was killed.
fn terminal_is_gone() -> bool {
    let stdin = rustix::stdio::stdin();
    let state = wait([(stdin, PollFlags::IN)], Some(Duration::ZERO));
    state.is_ok_and(|[state]| state.contains(PollFlags::HUP))
}

fn ended(status: WaitStatus) -> u8 {
    if let Some(signal) = status.terminating_signal() {
        Report::Killed(signal).send();
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    let code = status.exit_status().unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
