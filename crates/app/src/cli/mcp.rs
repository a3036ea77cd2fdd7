//! `understory mcp`: MCP over stdio.

use std::io::IsTerminal;

use understory_tools::sets::ToolSet;

use super::{Here, Outcome};
use crate::config::{Flags, Settings};
use crate::identity::Identity;
use crate::log;
use crate::mcp::stdio;
use crate::store::Store;
use crate::wake::runtimes::Runtimes;

const EXAMPLES: &str = "\
Examples:
  understory mcp
  understory mcp --tools essentials,graph --agent ada
  claude mcp add understory -- understory mcp";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The tools to list: surfaces by name, `essentials` or `all`, comma-separated
    #[arg(long, value_name = "SETS")]
    tools: Option<String>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let flags = Flags {
            tools: self.tools,
            ..here.flags.clone()
        };
        let settings = Settings::read(&flags, &here.around)?;
        let set = ToolSet::parse(&settings.tools.value).map_err(|fault| {
            let hint = fault.hint.clone().unwrap_or_default();
            fault.hint(
                format!("{hint} (set by {})", settings.tools.source)
                    .trim()
                    .to_owned(),
            )
        })?;
        if std::io::stdin().is_terminal() {
            log::warn(format_args!(
                "this speaks MCP to a client that starts it; ctrl-d ends it"
            ));
        }
        let identity = Identity::agent(&settings, &here.around)?;
        let runtimes = Runtimes::usable(&here.around);
        stdio::serve(identity, Store::for_tools(&settings, &runtimes), set)
    }
}
