//! `understory run`: a program in a terminal of its own, which Understory can reach.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Duration;

use understory_model::{Code, Fault};
use understory_terminal::{Error, Policy, Profile, Program, has_terminal, remote};

use super::{Here, Outcome};
use crate::config::Settings;
use crate::log;
use crate::managed::Session;

const EXAMPLES: &str = "\
Examples:
  understory run -- claude
  understory run --agent ada -- codex --full-auto
  understory run --agent bob -- bash

The program runs as if it were started directly: keys, colours, the mouse, Ctrl-Z and the exit code are
its own. With --agent, everything that it starts is that agent. Without a terminal, as in a script, the
program is started with the standard streams of this command.

When a message arrives for the agent that runs in it, the prompt is typed once the program waits for one:
never over a half-typed line, never into a dialog. Where the client has a better channel (see
`understory hook --help`), that is used instead. Claude Code and Codex get the whole prompt; to any other
program a prompt might be a command, so it gets one fixed line, unless you say --full-prompts.
The settings wake_quiet_seconds, wake_recheck_seconds and wake_patience_seconds say how long it waits.";

/// How long one try to type may wait for the screen to stand still.
const TRY: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "understory run [OPTIONS] -- PROGRAM [ARGS]...")]
pub struct Args {
    /// The program, and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
    /// Type whole prompts: the program reads text, and runs none of it
    #[arg(long)]
    full_prompts: bool,
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
        let name = name.to_string_lossy().into_owned();
        let settings = here.settings()?;
        let session = Session::new(&settings, &here.around, &name)?;
        let profile = Profile::of(&name);
        let program = Program {
            profile,
            argv: self.program,
            env: session.as_ref().map_or_else(Vec::new, Session::environment),
            cwd: None,
            leader: leader()?,
        };
        let (remote, inbox) = remote();
        let (outcomes, news) = channel();
        // Without a terminal there is nothing to type into.
        let managed = match session.filter(|_| has_terminal()) {
            Some(session) => {
                let reads_text = self.full_prompts || profile.reads_text;
                Some(session.manage(&settings, &here.around, remote, news, reads_text))
            }
            None => None,
        };
        if managed.is_some() {
            // The screen is the program's.
            log::silence();
        }
        let ended = understory_terminal::run(&program, policy(&settings), inbox, outcomes);
        if let Some(managed) = managed {
            managed.end();
        }
        ended.map(ExitCode::from).map_err(fault)
    }
}

/// One look at a time: how often the program is looked at again is up to the worker.
fn policy(settings: &Settings) -> Policy {
    Policy {
        quiet: Duration::from_secs(settings.wake_quiet_seconds.value.unsigned_abs()),
        patience: TRY,
        ..Policy::default()
    }
}

/// How this program starts itself to lead a session.
fn leader() -> Result<Vec<OsString>, Fault> {
    let ours = std::env::current_exe().map_err(|error| {
        Fault::new(
            Code::Internal,
            format!("the path of this program could not be determined: {error}"),
        )
    })?;
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
