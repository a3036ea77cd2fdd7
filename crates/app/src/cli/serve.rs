//! `understory serve`: MCP and every tool over HTTP.

use understory_tools::sets::ToolSet;

use super::{Here, Outcome};
use crate::config::{Flags, ServeFlags, Settings};
use crate::http::server::{self, Plain};
use crate::identity::Identity;
use crate::wake::runtimes::Runtimes;

const EXAMPLES: &str = "\
Examples:
  understory serve
  understory serve --listen 0.0.0.0:443 --url https://memory.example.com \\
      --tls-cert memory.pem --tls-key memory.key
  understory serve --url https://memory.example.com    # behind a proxy on this machine
  understory token issue --agent ada --role worker --session s1 --ttl 8h";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    flags: ServeFlags,
    /// Let other machines call without TLS: tokens and texts cross the network in the clear
    #[arg(long)]
    insecure: bool,
    /// The tools that MCP clients are shown: surfaces by name, `essentials` or `all`
    #[arg(long, value_name = "SETS")]
    tools: Option<String>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let flags = Flags {
            tools: self.tools,
            serve: self.flags,
            ..here.flags.clone()
        };
        let settings = Settings::read(&flags, &here.around)?;
        let set = ToolSet::parse(&settings.tools.value)?;
        let person = Identity::shell(&settings, &here.around)?.caller(None);
        let plain = if self.insecure {
            Plain::Allowed
        } else {
            Plain::Refused
        };
        let runtimes = Runtimes::read(&here.around)?;
        server::serve(&settings, &here.around, plain, set, (person, runtimes))
    }
}
