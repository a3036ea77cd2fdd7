//! `understory run`: a program in a terminal of its own, which Understory can reach.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};

use understory_model::{Code, Fault};
use understory_terminal::{Error, Inbox, Outcome as Delivered, Policy, Profile, Program, remote};

use super::{Here, Outcome};
use crate::identity::Identity;

const EXAMPLES: &str = "\
Examples:
  understory run -- claude
  understory run --agent ada -- codex --full-auto
  understory run --agent bob -- bash

The program runs as if it were started directly: keys, colours, the mouse, Ctrl-Z and the exit code are
its own. With --agent, everything that it starts is that agent. Without a terminal, as in a script, the
program is started with the standard streams of this command.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "understory run [OPTIONS] -- PROGRAM [ARGS]...")]
pub struct Args {
    /// The program, and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
    /// Lead the session in the terminal of a program, for the process that made it
    #[cfg(unix)]
    #[arg(long, hide = true)]
    leader: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        #[cfg(unix)]
        if self.leader {
            return Ok(ExitCode::from(understory_terminal::lead(&self.program)));
        }
        let name = self.program.first().cloned().unwrap_or_default();
        let program = Program {
            profile: Profile::of(&name.to_string_lossy()),
            argv: self.program,
            env: environment(here)?,
            cwd: None,
            leader: leader()?,
        };
        let (inbox, outcomes) = deliveries();
        understory_terminal::run(&program, Policy::default(), inbox, outcomes)
            .map(ExitCode::from)
            .map_err(fault)
    }
}

/// What is delivered to the program, and who hears what became of it: nothing, and nobody. The
/// remote is what a wake would deliver through.
fn deliveries() -> (Inbox, Sender<Delivered>) {
    let (_remote, inbox) = remote();
    let (outcomes, _heard) = channel();
    (inbox, outcomes)
}

/// Who the program is, if this command was told. A name that could not be one is refused here, and
/// not in every command of the program.
fn environment(here: &Here) -> Result<Vec<(OsString, OsString)>, Fault> {
    let Some(agent) = &here.flags.agent else {
        return Ok(Vec::new());
    };
    Identity::agent(&here.settings()?, &here.around)?;
    Ok(vec![("UNDERSTORY_AGENT".into(), agent.into())])
}

/// How this program starts itself to lead a session.
fn leader() -> Result<Vec<OsString>, Fault> {
    let ours = std::env::current_exe()
        .map_err(|error| Fault::new(Code::Internal, format!("where is this program? {error}")))?;
    Ok([
        ours.as_os_str(),
        "run".as_ref(),
        "--leader".as_ref(),
        "--".as_ref(),
    ]
    .map(OsString::from)
    .to_vec())
}

fn fault(error: Error) -> Fault {
    match &error {
        Error::NotStarted { error: why, .. } if why.kind() == ErrorKind::NotFound => {
            Fault::new(Code::NotFound, error.to_string())
                .hint("Check its name and that it is installed: `command -v NAME`.")
        }
        Error::NotStarted { .. } | Error::NoProgram => {
            Fault::new(Code::Validation, error.to_string())
        }
        Error::Terminal(_) | Error::Leader(_) | Error::Broken => {
            Fault::new(Code::Internal, error.to_string())
        }
    }
}
