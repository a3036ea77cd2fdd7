//! `understory why`: how anything came about, back to what it began with.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::log::did;
use super::text::Text;
use super::{Desk, Here, Outcome};

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
        let desk = here.desk()?;
        let answer = desk.call("why", json!({ "id": self.id }))?;
        if here.out.json {
            here.out.value(&answer);
        } else {
            show(here, &desk, &self.id, &answer);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(here: &Here, desk: &Desk, id: &str, answer: &Value) {
    let out = &here.out;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(line) = answer["line"].as_object() {
        let said = text(&line["content"]);
        out.line(Text::new().name(id).plain("  ").bold(said));
    }
    let steps = answer["steps"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    for (at, step) in steps.iter().enumerate() {
        let lead = match at {
            0 => "",
            _ => "because  ",
        };
        // What somebody said may have been written down by another.
        let who = step["sender"].as_str().unwrap_or_default();
        let who = if who.is_empty() {
            text(&step["actor"])
        } else {
            who.to_owned()
        };
        let head = Text::new()
            .dim(lead)
            .plain(who)
            .plain(" ")
            .then(did(step["action"].as_str().unwrap_or("added")))
            .plain(" ")
            .name(
                step["name"]
                    .as_str()
                    .or(step["handle"].as_str())
                    .unwrap_or_default(),
            );
        let head = head.dim(format!(
            "  {}",
            desk.clock.ago_text(&text(&step["realized_at"]))
        ));
        out.line(head);
        let (told, why) = (text(&step["text"]), text(&step["reasoning"]));
        if !told.is_empty() {
            out.hanging(Text::from(format!("    {told}").as_str()), 4);
        }
        if !why.is_empty() && !told.contains(&why) {
            out.hanging(Text::from(format!("    why: {why}").as_str()), 4);
        }
    }
    if answer["cycle"] == true {
        out.hint("What led to it leads back to it; the circle is shown once.");
    } else if answer["truncated"] == true && !steps.is_empty() {
        out.hint(format!(
            "It goes on: understory why {} shows the rest.",
            text(&steps[steps.len() - 1]["uuid"])
        ));
    } else if steps.len() == 1 {
        out.hint("Nothing is known to have caused it; a write says so with `caused_by`.");
    }
}
