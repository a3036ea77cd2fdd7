//! `understory completions`: a completion script for a shell, on standard output.

use std::io::Write;
use std::process::ExitCode;

use clap_complete::Shell;
use understory_model::{Code, Fault};

use super::{Here, Outcome, command};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell to complete for
    shell: Shell,
}

impl Args {
    pub fn run(self, _: &Here) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "understory", &mut script);
        match std::io::stdout().write_all(&script) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => Err(Fault::new(
                Code::Internal,
                format!("standard output: {error}"),
            )),
        }
    }
}
