//! `understory runtimes`: which programs may be started to wake an agent.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use understory_engine::files;
use understory_model::nearest::nearest;
use understory_model::text::quoted;
use understory_model::{Code, Fault};

use super::text::Text;
use super::{Here, Outcome};
use crate::wake::runtimes::{Runtime, Runtimes};

const EXAMPLES: &str = "\
Examples:
  understory runtimes                   what may be started, and how
  understory runtimes --add codex       let Codex be sent prompts, resumed and started
  understory runtimes --add person      tell you with notify-send when nobody could be woken
  understory runtimes --remove codex

Each command is a list of arguments, which no shell reads. {session}, {prompt} and {thread} are filled
in; a command without {prompt} reads the prompt from its standard input. The file is yours alone: no
repository adds to it. `understory serve`, and the hooks of a client, start what it lists.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Allow a client: claude-code, codex, gemini, copilot, opencode or person
    #[arg(long, value_name = "CLIENT")]
    add: Vec<String>,
    /// No longer start a client
    #[arg(long, value_name = "CLIENT")]
    remove: Vec<String>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let mut runtimes = Runtimes::read(&here.around)?;
        let file = Runtimes::file(&here.around).ok_or_else(no_home)?;
        for client in &self.add {
            runtimes.add(client, known(here, client)?);
        }
        for client in &self.remove {
            if !runtimes.remove(client) {
                let problem = format!("{} is not listed", quoted(client));
                return Err(Fault::new(Code::NotFound, problem));
            }
        }
        if !self.add.is_empty() || !self.remove.is_empty() {
            write(&file, &runtimes.written()?)?;
        }
        show(here, &file, &runtimes)
    }
}

fn show(here: &Here, file: &Path, runtimes: &Runtimes) -> Outcome {
    let out = &here.out;
    if out.json {
        out.answer(runtimes)?;
        return Ok(ExitCode::SUCCESS);
    }
    if runtimes.iter().next().is_none() {
        out.line("Nothing may be started. `understory runtimes --add codex` allows Codex.");
        return Ok(ExitCode::SUCCESS);
    }
    out.line(Text::new().dim(file.display().to_string()));
    out.line(runtimes.written()?.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// What is known to work with a client, with its program by the path that it has here.
fn known(here: &Here, client: &str) -> Result<Runtime, Fault> {
    let unknown = || {
        let near = nearest(client, Runtime::CLIENTS, 1);
        let hint = match near.first() {
            Some(near) => format!("Did you mean {near}?"),
            None => format!("There are {}.", Runtime::CLIENTS.join(", ")),
        };
        Fault::invalid("add", format!("{} is not a known client", quoted(client))).hint(hint)
    };
    let program = Runtime::program(client).ok_or_else(unknown)?;
    let path = on_path(here, program)?;
    let program = path.map_or(program.to_owned(), |path| path.display().to_string());
    Runtime::known(client, &program).ok_or_else(unknown)
}

fn on_path(here: &Here, program: &str) -> Result<Option<PathBuf>, Fault> {
    let path = here.around.var("PATH")?.unwrap_or_default();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join(program));
    Ok(all.find(|path| path.is_absolute() && path.is_file()))
}

fn write(file: &Path, text: &str) -> Result<(), Fault> {
    let wrong = |error: std::io::Error| {
        Fault::new(Code::Validation, format!("{}: {error}", file.display()))
    };
    if let Some(folder) = file.parent() {
        files::private_folder(folder).map_err(wrong)?;
    }
    // A concurrent reader gets either the old file or the new one.
    let new = file.with_extension(format!("toml.{}", std::process::id()));
    let written = files::create_private(&new).and_then(|mut to| to.write_all(text.as_bytes()));
    written
        .and_then(|()| std::fs::rename(&new, file))
        .map_err(wrong)
}

fn no_home() -> Fault {
    Fault::new(
        Code::Validation,
        "there is no home directory for the file of runtimes",
    )
}
