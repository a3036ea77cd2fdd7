//! `understory why`: how anything came about, back to what it began with.

use std::process::ExitCode;

use serde_json::json;
use understory_engine::garden::timeline::why::Why;

use super::here::typed;
use super::log::did;
use super::text::Text;
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory why TASK-012
  understory why R003
  understory why goals_doc:3            a line of an artifact
  understory why msg_41
  understory why TASK-012 --json | jq '.steps[-1].text'";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Any name: a task, a record, a message, an item, a line of an artifact
    #[arg(value_name = "ANYTHING")]
    id: String,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let answer = context.call("why", json!({ "id": self.id }))?;
        if here.out.json {
            here.out.value(&answer);
        } else {
            show(here, &context, &self.id, &typed(&answer)?);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(here: &Here, context: &CommandContext, id: &str, answer: &Why) {
    let out = &here.out;
    if let Some(line) = &answer.line {
        out.line(Text::new().name(id).plain("  ").bold(&line.content));
    }
    for (at, step) in answer.steps.iter().enumerate() {
        let lead = match at {
            0 => "",
            _ => "because  ",
        };
        // What somebody said may have been written down by another.
        let sender = step.sender.as_deref().filter(|sender| !sender.is_empty());
        let name = step.name.as_deref().or(step.handle.as_deref());
        let head = Text::new()
            .dim(lead)
            .plain(sender.unwrap_or(&step.actor))
            .plain(" ")
            .then(did(step.action.as_deref().unwrap_or("added")))
            .plain(" ")
            .name(name.unwrap_or_default());
        out.line(head.dim(format!("  {}", context.clock.ago(step.realized_at))));
        let told = &step.text;
        let why = step.reasoning.as_deref().unwrap_or_default();
        if !told.is_empty() {
            out.hanging(Text::from(format!("    {told}").as_str()), 4);
        }
        if !why.is_empty() && !told.contains(why) {
            out.hanging(Text::from(format!("    why: {why}").as_str()), 4);
        }
    }
    let last = answer.steps.last().filter(|_| answer.truncated);
    if answer.cycle {
        out.hint("The causes form a cycle, shown once.");
    } else if let Some(last) = last {
        out.hint(format!(
            "It goes on: understory why {} shows the rest.",
            last.uuid
        ));
    } else if answer.steps.len() == 1 {
        out.hint("Nothing is known to have caused it; a write says so with `caused_by`.");
    }
}
