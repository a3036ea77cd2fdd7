//! The command line. A command is one file here, a `mod` line and a line in `commands!`.
//!
//! A command's file has `pub struct Args` (its flags, a `clap::Args`) and
//! `impl Args { pub fn run(self, here: &Here) -> Outcome }`. What it prints is its result; what
//! went wrong is a `Fault`, which is printed here, in one way for all.

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use understory_model::{Code, Fault};

use crate::config::{Flags, Settings, Surroundings};

pub mod completions;
pub mod mcp;

/// How a command ends.
pub type Outcome = Result<ExitCode, Fault>;

/// Declares the commands and how each is run.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident($args:ty),)*) => {
        #[derive(Debug, Subcommand)]
        enum Command { $($(#[$doc])* $name($args),)* }

        impl Command {
            fn run(self, here: &Here) -> Outcome {
                match self { $(Command::$name(args) => args.run(here),)* }
            }
        }
    };
}

commands! {
    /// Serve MCP over stdio, for an agent's configuration
    Mcp(mcp::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

/// Understory: the story underneath the work.
///
/// One durable memory and meeting place for AI agents and the people who work with them.
#[derive(Debug, Parser)]
#[command(
    name = "understory",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
struct Line {
    #[command(flatten)]
    flags: Flags,
    #[command(subcommand)]
    command: Command,
}

/// Where a command runs: the flags that all share, and the surroundings.
pub struct Here {
    pub flags: Flags,
    pub around: Surroundings,
}

impl Here {
    /// The settings, once a command needs them.
    pub fn settings(&self) -> Result<Settings, Fault> {
        Settings::read(&self.flags, &self.around)
    }
}

/// The whole command line, for whatever describes it.
pub fn command() -> clap::Command {
    Line::command()
}

/// Runs the process's command line.
pub fn main() -> ExitCode {
    let line = Line::parse();
    let outcome = Surroundings::real().and_then(|around| {
        line.command.run(&Here {
            flags: line.flags,
            around,
        })
    });
    outcome.unwrap_or_else(|fault| report(&fault))
}

fn report(fault: &Fault) -> ExitCode {
    use std::io::Write;
    let mut text = format!("error: {}", fault.message);
    if let Some(hint) = &fault.hint {
        text.push_str(&format!("\nhint: {hint}"));
    }
    let _ = writeln!(std::io::stderr(), "{text}");
    match fault.code {
        Code::Validation => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
