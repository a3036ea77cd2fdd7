//! `understory who`: who is here, what each is on, and how each can be reached.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::json;
use understory_engine::kernel::who::Seen;
use understory_engine::system::who::Who;
use understory_model::answer::Answer;

use super::table::Table;
use super::text::{Style, Text};
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory who                    everybody who is here, or was a short while ago
  understory who claude-code-2      all sessions of one agent
  understory who --json | jq -r '.sessions[] | select(.alive).agent'";

/// Columns for a session's name, and of a terminal that shows it.
const NAME: usize = 20;
const WITH_NAMES: usize = 80;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only this agent and its sessions
    agent: Option<String>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let wanted = match &self.agent {
            Some(agent) => json!({ "agent": agent }),
            None => json!({}),
        };
        let found = context.call("get_active_sessions", wanted.clone())?;
        if here.out.json {
            here.out.value(&found);
            return Ok(ExitCode::SUCCESS);
        }
        let Sessions { sessions } = Answer::Json(found).typed()?;
        if sessions.is_empty() {
            let nobody = match (context.nothing_yet()?, &self.agent) {
                (Some(why), _) => why,
                (None, Some(agent)) => format!("{agent} was never seen here."),
                (None, None) => "Nobody is here now.".to_owned(),
            };
            here.out.line(nobody);
        } else {
            let wanted = match self.agent {
                Some(_) => wanted,
                None => json!({ "gone": true }),
            };
            let who: Who = Answer::Json(context.call("who", wanted)?).typed()?;
            show(here, &context, &sessions, &who);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The answer of `get_active_sessions`.
#[derive(Deserialize)]
struct Sessions {
    sessions: Vec<Seen>,
}

fn show(here: &Here, context: &CommandContext, sessions: &[Seen], who: &Who) {
    let mut table = Table::new(&[
        "agent", "", "since", "seen", "reach", "project", "on", "runtime", "session",
    ]);
    let wide = here.out.width().is_none_or(|width| width >= WITH_NAMES);
    for one in sessions {
        let alive = if one.alive {
            Text::new().add(Style::Good, "alive")
        } else {
            Text::new().dim("gone")
        };
        let session = if wide {
            Text::from(one.session_id.as_str()).fit(NAME)
        } else {
            Text::new()
        };
        let agent = who.agents.iter().find(|agent| agent.agent == one.agent);
        let since = agent.and_then(|agent| agent.since);
        table.row([
            Text::new().bold(&one.agent),
            alive,
            Text::from(since.map_or_else(String::new, |since| context.clock.ago(since))),
            Text::from(context.clock.ago(one.last_seen)),
            Text::from(agent.map_or("", |agent| agent.reach.as_str())),
            Text::from(one.project.as_deref().unwrap_or_default()),
            Text::from(one.on.join(", ")),
            Text::from(one.runtime.as_str()),
            session,
        ]);
    }
    here.out.table(table);
}
