//! `understory completions`: a completion script for a shell, on standard output.

use std::process::ExitCode;

use clap_complete::Shell;

use super::{Here, Outcome, command};

const EXAMPLES: &str = "\
Examples:
  understory completions bash > ~/.local/share/bash-completion/completions/understory
  understory completions zsh > ~/.zfunc/_understory
  understory completions fish > ~/.config/fish/completions/understory.fish";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell to complete for
    shell: Shell,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "understory", &mut script);
        here.out.bytes(&script);
        Ok(ExitCode::SUCCESS)
    }
}
