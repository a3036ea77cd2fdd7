//! `understory audit`: what was done with tokens, keys and logins in this workspace, newest first.

use std::process::ExitCode;

use understory_engine::system::audit;
use understory_model::Seq;

use super::log::show;
use super::{Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory audit                      the last 20 events
  understory audit --workspace shop --limit 100
  understory audit --before 1200        what happened before #1200
  understory audit --json | jq -r .text

Issued and revoked tokens, new and retired keys, logins, refused tokens with a valid signature, and
damage that a rebuild accepted. A worker does not read them.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only events before this item
    #[arg(long, value_name = "SEQ")]
    before: Option<i64>,
    /// Maximum number of events
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let entries = context.engine.view(&context.caller, |view| {
            audit::newest(view, &context.caller, self.before.map(Seq), self.limit)
        })?;
        if entries.is_empty() && !here.out.json {
            here.out.line("There is no audit event yet.");
            return Ok(ExitCode::SUCCESS);
        }
        show(here, &context, &entries);
        Ok(ExitCode::SUCCESS)
    }
}
