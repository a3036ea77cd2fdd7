//! Runs a program without a terminal of its own: for pipes, scripts and services, and where there is
//! no such terminal to be had. It has our standard streams, and nothing can be delivered to it.

use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::Sender;
use std::{io, thread};

use crate::delivery::{Event, Inbox, Message, Outcome};
use crate::program::{Error, Program};
use crate::text::Refusal;

/// Runs a program with our streams; its exit code.
pub fn run(program: &Program, inbox: Inbox, outcomes: Sender<Outcome>) -> Result<u8, Error> {
    let (name, arguments) = program.argv.split_first().ok_or(Error::NoProgram)?;
    let mut command = Command::new(name);
    command
        .args(arguments)
        .envs(program.env.iter().map(|(name, value)| (name, value)));
    if let Some(cwd) = &program.cwd {
        command.current_dir(cwd);
    }
    let patience = Patience::new()?;
    let mut child = command.spawn().map_err(|error| Error::NotStarted {
        program: program.name(),
        error,
    })?;
    let Inbox { messages, end } = inbox;
    let ended = thread::scope(|scope| {
        scope.spawn(move || {
            for message in messages {
                match message {
                    Message::Deliver(delivery, _) => {
                        let why = Refusal::NoTerminal;
                        let (id, event) = (delivery.id, Event::Refused { why });
                        // Whoever does not listen to outcomes does not need them.
                        let _ = outcomes.send(Outcome { id, event });
                    }
                    // Nobody sees anything here.
                    Message::Look(_) => {}
                    Message::End => return,
                }
            }
        });
        let ended = patience.wait(&mut child);
        end.end();
        ended
    });
    Ok(code(ended?))
}

#[cfg(unix)]
fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let killed = status.signal().map(|signal| 128 + signal);
    let code = killed.or(status.code()).unwrap_or(1);
    u8::try_from(code).unwrap_or(u8::MAX)
}

#[cfg(not(unix))]
fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or(1);
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Waits for the program, and passes signals on to it. Those of the keyboard reach it by themselves:
/// we only must not end before it.
#[cfg(unix)]
struct Patience(signal_hook::iterator::Signals);

#[cfg(unix)]
impl Patience {
    fn new() -> io::Result<Patience> {
        use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        let signals = [SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM];
        signal_hook::iterator::Signals::new(signals).map(Patience)
    }

    fn wait(mut self, child: &mut Child) -> io::Result<ExitStatus> {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        loop {
            if let Some(ended) = child.try_wait()? {
                return Ok(ended);
            }
            for signal in self.0.wait() {
                let passed = [Signal::HUP, Signal::TERM]
                    .into_iter()
                    .find(|passed| passed.as_raw() == signal);
                if let (Some(signal), Some(pid)) = (passed, pid) {
                    // A program that has ended is noticed above.
                    let _ = kill_process(pid, signal);
                }
            }
        }
    }
}

#[cfg(not(unix))]
struct Patience;

#[cfg(not(unix))]
impl Patience {
    fn new() -> io::Result<Patience> {
        Ok(Patience)
    }

    fn wait(self, child: &mut Child) -> io::Result<ExitStatus> {
        child.wait()
    }
}
