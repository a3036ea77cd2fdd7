//! `understory hook`: what an agent client runs at moments of its chat, and the settings that make it
//! do so.

use std::path::PathBuf;
use std::process::ExitCode;

use understory_model::Fault;
use understory_model::text::quoted;

use super::text::Text;
use super::{Here, Outcome};
use crate::config::Surroundings;
use crate::hook::config::{Target, printed};
use crate::hook::{self, Start, beside};

/// The help, with settings to paste.
fn help() -> String {
    format!(
        "\
Events: session-start, prompt, stop, pre-compact, session-end, wake. The client writes JSON to \
standard input; the answer is in its format. Where there is nothing to tell, no store, or anything \
is wrong, a hook is silent and ends with code 0; UNDERSTORY_LOG=debug shows why. `wake` waits, and \
ends with code 2 when there is something to tell.

Claude Code, {}:
{}

Codex, {} (it asks you to review new hooks):
{}

`understory hook config CLIENT` prints this with the path of the program, for further clients, too:
{}

Examples:
  understory hook config claude
  understory hook config opencode > {}
  understory hook session-start --client codex",
        Target::Claude.file(),
        printed(Target::Claude, "understory"),
        Target::Codex.file(),
        printed(Target::Codex, "understory"),
        files(),
        Target::Opencode.file(),
    )
}

/// The file of each client.
fn files() -> String {
    let line = |target: Target| format!("  {:<9} {}", target.as_str(), target.file());
    Target::ALL.map(line).join("\n")
}

/// What can be named, in a sentence.
fn names() -> String {
    let names = Target::ALL.map(Target::as_str);
    let (last, first) = names.split_last().unwrap_or((&"", &[]));
    format!("{} or {last}", first.join(", "))
}

#[derive(Debug, clap::Args)]
#[command(after_help = help())]
pub struct Args {
    /// The event, or `config` to print settings for a client
    event: String,
    /// With `config`: claude, codex, gemini, copilot, cursor or opencode
    #[arg(value_name = "FOR")]
    target: Option<String>,
    /// The client, where neither its environment nor its JSON shows it: claude, codex, gemini,
    /// copilot, cursor or opencode
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// The address of the client's server on this machine, such as http://127.0.0.1:4096
    #[arg(long, value_name = "URL")]
    address: Option<String>,
    /// The client's process, if it is not the one that runs the hook
    #[arg(long, value_name = "PID")]
    process: Option<i64>,
    /// The folder of the chat, for the process that a hook starts beside it
    #[arg(long, value_name = "PATH", hide = true)]
    folder: Option<PathBuf>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        if self.event == "config" {
            return self.config(here);
        }
        // A hook works in the folder of the chat, which need not be this one.
        let around = Surroundings {
            folder: here.around.folder.clone(),
            ..Surroundings::real()?
        };
        let start = Start {
            event: self.event,
            client: self.client,
            address: self.address,
            process: self.process,
            flags: here.flags.clone(),
        };
        match self.folder {
            Some(folder) if start.event == beside::NAME => Ok(beside::main(&start, folder, around)),
            _ => Ok(hook::run(start, around)),
        }
    }

    fn config(&self, here: &Here) -> Outcome {
        let named = self.target.as_deref().unwrap_or_default();
        let Some(target) = Target::parse(named) else {
            let problem = format!("there are no settings for {}", quoted(named));
            return Err(Fault::invalid("FOR", problem).hint(format!("Name {}.", names())));
        };
        let program = std::env::current_exe().map_err(|error| {
            Fault::invalid(
                "FOR",
                format!("the program's own path is not known: {error}"),
            )
        })?;
        let text = printed(target, &program.display().to_string());
        for line in text.lines() {
            here.out.line(Text::new().plain(line));
        }
        Ok(ExitCode::SUCCESS)
    }
}
