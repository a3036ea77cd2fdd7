//! `understory wakes`: who was to be woken, and what came of it.

use std::process::ExitCode;

use serde_json::json;
use understory_engine::threads::wakes::{Wakes, Waking};
use understory_model::answer::Answer;

use super::render::message::{explained, handle};
use super::render::wake;
use super::table::Table;
use super::text::Text;
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory wakes                      the last wakes, and what came of each
  understory wakes --open               those that are not read yet
  understory wakes --thread th_001 --steps
  understory wakes --to bob --json | jq '.wakes[].result'

queued     waits for a worker: `understory serve`, or the hook of a client
deferred   is tried again: somebody types, or the last try failed
delivered  the agent's client took the prompt
read       the agent acknowledged the messages, or called a tool after the prompt
failed     nobody could be woken; --steps says what was tried and why it failed";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only pending wakes
    #[arg(long)]
    open: bool,
    /// Only those of one thread
    #[arg(long, value_name = "THREAD")]
    thread: Option<String>,
    /// Only those of waking one agent
    #[arg(long, value_name = "AGENT")]
    to: Option<String>,
    /// Also the steps that failed, and why
    #[arg(long)]
    steps: bool,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: i64,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let args = json!({
            "thread_id": self.thread.as_deref().map(handle),
            "target_agent_id": self.to,
            "open": self.open,
            "limit": self.limit,
        });
        let answer = context.call("list_wakes", args);
        let answer = answer.map_err(|fault| explained(&context, fault))?;
        let out = &here.out;
        if out.json {
            out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        let found: Wakes = Answer::Json(answer).typed()?;
        if found.wakes.is_empty() {
            out.line("No wakes.");
            return Ok(ExitCode::SUCCESS);
        }
        self.show(here, &context, &found.wakes);
        if found.next_cursor.is_some() {
            out.line(Text::new().dim("There are more: --limit shows them."));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn show(&self, here: &Here, context: &CommandContext, wakes: &[Waking]) {
        let mut table = Table::new(&[
            "wake", "agent", "thread", "result", "step", "asked by", "when",
        ]);
        for one in wakes {
            table.row([
                Text::new().name(&one.wake_id),
                Text::new().bold(&one.target_agent_id),
                Text::from(one.thread_id.as_str()),
                wake::result(&context.clock, one),
                Text::from(wake::step(one)),
                Text::from(one.asked_by.as_str()),
                Text::from(context.clock.ago(one.updated_at)),
            ]);
        }
        here.out.table(table);
        for one in wakes.iter().filter(|_| self.steps) {
            for tried in &one.tried {
                let line = Text::new().name(&one.wake_id).plain("  ");
                let line = line.plain(tried.action.as_str().replace('_', " "));
                here.out
                    .line(line.dim(format!("  {}  {}", tried.code, tried.why)));
            }
        }
    }
}
