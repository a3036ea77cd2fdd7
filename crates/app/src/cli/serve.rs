//! `understory serve`: MCP and every tool over HTTP.

use understory_tools::sets::ToolSet;

use super::{Here, Outcome};
use crate::config::{Flags, Settings};
use crate::http::server;
use crate::identity::Identity;

const EXAMPLES: &str = "\
Examples:
  understory serve
  understory serve --listen 0.0.0.0:7878 --url https://memory.example.com
  understory token issue --agent ada --role worker --session s1 --ttl 8h";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where to listen, instead of 127.0.0.1:7878
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// What callers call this server, when a proxy stands before it
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The tools that MCP clients are shown: surfaces by name, `essentials` or `all`
    #[arg(long, value_name = "SETS")]
    tools: Option<String>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let flags = Flags {
            tools: self.tools,
            listen: self.listen,
            url: self.url,
            ..here.flags.clone()
        };
        let settings = Settings::read(&flags, &here.around)?;
        let set = ToolSet::parse(&settings.tools.value)?;
        let person = Identity::shell(&settings, &here.around)?.caller(None);
        server::serve(&settings, set, person)
    }
}
