//! Runs a program in a terminal of its own, between the person's terminal and the program's.
//!
//! The main thread takes signals and waits for the program; one thread passes what the person types,
//! one what the program shows, one delivers. Nobody waits for the end of the program's terminal: a
//! process that the program left behind may keep it open for ever.

use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::iterator::{Handle, Signals};

use crate::deliver::Deliverer;
use crate::delivery::{Inbox, Outcome};
use crate::leader::Report;
use crate::link::Link;
use crate::policy::Policy;
use crate::program::{Error, Program};
use crate::pty::{self, Raw};
use crate::screen::Screen;

/// How long what was written before the end, or before a stop, may take to be shown.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How soon a process that is stopped notices it. One that was not cannot be.
const STOP: Duration = Duration::from_millis(100);

const SIGNALS: [i32; 7] = [SIGCHLD, SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGCONT];

/// Runs a program between two terminals; its exit code.
pub fn run(
    program: &Program,
    policy: Policy,
    inbox: Inbox,
    outcomes: Sender<Outcome>,
) -> Result<u8, Error> {
    let signals = Signals::new(SIGNALS)?;
    let (master, slave) = pty::open()?;
    let size = pty::copy_modes(&slave)?;
    let started = Leader::start(program, slave)?;
    let screen = Screen::new(size.ws_row, size.ws_col, Instant::now());
    let link = Link::new(master, started.program, screen)?;
    let raw = Raw::new()?;
    let deliverer = Deliverer::new(&link, program.profile, policy, outcomes);
    let broken = AtomicBool::new(false);
    let handle = signals.handle();
    let mut supervisor = Supervisor {
        signals,
        link: &link,
        raw: &raw,
        leader: started,
    };
    let ended = thread::scope(|scope| {
        let guard = || Broken(&broken, handle.clone());
        let passes = |pass: fn(&Link) -> io::Result<()>| {
            let (link, guard) = (&link, guard());
            move || {
                if pass(link).is_ok() {
                    guard.fine();
                }
            }
        };
        scope.spawn(passes(Link::pass_input));
        scope.spawn(passes(Link::pass_output));
        let delivers = guard();
        let messages = inbox.messages;
        scope.spawn(move || {
            deliverer.run(&messages);
            delivers.fine();
        });
        // Also when this panics, the threads end, or the scope would wait for them for ever.
        let _all = EndAll(&link, &inbox.end);
        supervisor.watch()
    });
    if broken.load(Ordering::SeqCst) {
        Err(Error::Broken)
    } else {
        Ok(ended)
    }
}

/// A thread that ends in another way than by itself ends everything.
struct Broken<'a>(&'a AtomicBool, Handle);

impl Broken<'_> {
    fn fine(self) {
        std::mem::forget(self);
    }
}

impl Drop for Broken<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        self.1.close();
    }
}

struct EndAll<'a>(&'a Link, &'a crate::delivery::Remote);

impl Drop for EndAll<'_> {
    fn drop(&mut self) {
        self.0.end();
        self.1.end();
    }
}

/// The process that leads the program's session.
struct Leader {
    pid: Pid,
    program: Pid,
    reports: BufReader<ChildStderr>,
}

impl Leader {
    fn start(program: &Program, slave: OwnedFd) -> Result<Leader, Error> {
        let (ours, arguments) = program.leader.split_first().ok_or(Error::NoProgram)?;
        let mut command = Command::new(ours);
        command
            .args(arguments)
            .args(&program.argv)
            .envs(program.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::from(slave))
            .stderr(Stdio::piped());
        if let Some(cwd) = &program.cwd {
            command.current_dir(cwd);
        }
        let mut child = command
            .spawn()
            .map_err(|error| Error::Leader(error.to_string()))?;
        drop(command);
        Leader::greet(&mut child)
            .inspect_err(|_| {
                // It says why it ends, and ends.
                let _ = child.wait();
            })
            .map_err(|error| match error {
                Greeting::Failed(errno) => Error::NotStarted {
                    program: program.name(),
                    error: io::Error::from_raw_os_error(errno),
                },
                Greeting::Strange(text) => Error::Leader(text),
            })
    }

    fn greet(child: &mut Child) -> Result<Leader, Greeting> {
        let strange = |text: &str| Greeting::Strange(text.to_owned());
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| strange("it has no number"))?;
        let reports = child
            .stderr
            .take()
            .ok_or_else(|| strange("it has no voice"))?;
        let mut reports = BufReader::new(reports);
        let mut said = String::new();
        loop {
            let mut line = String::new();
            let length = reports.read_line(&mut line).unwrap_or_default();
            match Report::read(&line) {
                Some(Report::Started(program)) => {
                    return Ok(Leader {
                        pid,
                        program,
                        reports,
                    });
                }
                Some(Report::Failed(errno)) => return Err(Greeting::Failed(errno)),
                _ if length == 0 => return Err(strange(said.trim())),
                // A warning of the system or of ours, on the way to its report.
                _ => said.push_str(&line),
            }
        }
    }

    fn tell(&self, signal: Signal) {
        // A leader that has ended is noticed by waiting for it.
        let _ = kill_process(self.pid, signal);
    }

    /// Whether the program was ended by a signal, once the leader has ended.
    fn was_killed(&mut self) -> bool {
        let rest = self.reports.by_ref().lines().map_while(Result::ok);
        rest.into_iter()
            .any(|line| matches!(Report::read(&line), Some(Report::Killed(_))))
    }
}

enum Greeting {
    Failed(i32),
    Strange(String),
}

struct Supervisor<'a> {
    signals: Signals,
    link: &'a Link,
    raw: &'a Raw,
    leader: Leader,
}

impl Supervisor<'_> {
    /// Serves signals until the program has ended; its exit code.
    fn watch(&mut self) -> u8 {
        while !self.signals.is_closed() {
            let signals: Vec<i32> = self.signals.wait().collect();
            for signal in signals {
                if let Some(code) = self.take(signal) {
                    return self.last_words(code);
                }
            }
        }
        // A thread of ours failed. The program's terminal is closed when we return, which ends it.
        1
    }

    fn take(&mut self, signal: i32) -> Option<u8> {
        match signal {
            SIGCHLD => return self.reap(),
            SIGWINCH => self.resize(),
            // Somebody stopped and continued us. What they left of the terminal's modes is unknown.
            SIGCONT => self.go_on(),
            other => {
                if let Some(signal) = Signal::from_named_raw(other) {
                    self.leader.tell(signal);
                    self.leader.tell(Signal::CONT);
                }
            }
        }
        None
    }

    fn resize(&self) {
        if let Ok(size) = pty::copy_size(self.link.master()) {
            self.link.resize(size.ws_row, size.ws_col);
        }
    }

    fn go_on(&self) {
        // Without a terminal, the hang-up that took it ends us.
        let _ = self.raw.again();
        self.resize();
    }

    /// What happened to the leader: it stops and ends with the program.
    fn reap(&mut self) -> Option<u8> {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED;
        let (_, status) = waitpid(Some(self.leader.pid), options).ok()??;
        if status.stopped() {
            return self.stop();
        }
        let killed = status.terminating_signal().map(|signal| 128 + signal);
        let code = killed.or(status.exit_status()).unwrap_or(1);
        Some(u8::try_from(code).unwrap_or(u8::MAX))
    }

    /// Stops ourselves as the program was stopped, so that the person's shell takes over, and goes on
    /// when it lets us. Where no shell could let us, the signal does nothing, and the program goes on.
    fn stop(&mut self) -> Option<u8> {
        self.link.drain(LAST_WORDS);
        let _ = self.raw.leave();
        let _ = kill_process(getpid(), Signal::TSTP);
        let until = Instant::now() + STOP;
        let mut others = Vec::new();
        // With several threads, the stop may come a moment later than the call returns.
        while !others.contains(&SIGCONT) && Instant::now() < until {
            others.extend(self.signals.pending());
            thread::sleep(Duration::from_millis(1));
        }
        self.go_on();
        self.leader.tell(Signal::CONT);
        others.retain(|signal| *signal != SIGCONT);
        others.into_iter().find_map(|signal| self.take(signal))
    }

    fn last_words(&mut self, code: u8) -> u8 {
        self.link.drain(LAST_WORDS);
        if self.leader.was_killed() || code == 128 + 9 {
            let undo = self.link.with_screen(Screen::undo);
            let _ = pty::write_all(rustix::stdio::stdout(), &undo);
        }
        code
    }
}
