//! `understory conversations`: what is talked about in a project, as the tree that it is.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::next::each;
use super::text::{Style, Text};
use super::{Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory conversations
  understory show uuid_01931c5e-8f7a-7c3e-b7a5-111111111111     one of them, as it went
  understory conversations --json | jq '.frames'";

/// Conversations that are shown.
const SHOWN: i64 = 200;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, visible_alias = "talks")]
pub struct Args {}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let desk = here.desk()?;
        let asked = json!({ "project": here.flags.project, "limit": SHOWN });
        let answer = desk.call("garden_stack", asked)?;
        if here.out.json {
            here.out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        if each(&answer["tree"]).next().is_none() {
            let why = desk.nothing_yet()?;
            here.out
                .line(why.unwrap_or_else(|| "Nobody has talked here yet.".to_owned()));
            return Ok(ExitCode::SUCCESS);
        }
        each(&answer["tree"]).for_each(|one| draw(here, &answer["frames"], one, 0));
        if answer["pagination"]["next_cursor"].is_string() {
            here.out.hint(format!("The first {SHOWN} are shown."));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A conversation and those that came from it.
fn draw(here: &Here, frames: &Value, one: &Value, depth: usize) {
    let text = |name: &str| one[name].as_str().unwrap_or_default();
    let indent = "  ".repeat(depth);
    let mut line = Text::from(indent.as_str()).bold(called(one));
    line = match text("state") {
        "active" => line.add(Style::Good, "  open"),
        state => line.dim(format!("  {state}")),
    };
    let here_now: Vec<&str> = frames
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, frame)| frame["branch_uuid"] == one["uuid"])
        .map(|(who, _)| who.as_str())
        .collect();
    if !here_now.is_empty() {
        line = line.plain(format!("  {}", here_now.join(", ")));
    }
    here.out.cut(line.dim(format!("  {}", text("uuid"))));
    // A title says what it was about, and the summary what came of it.
    if !text("title").is_empty() && !text("summary").is_empty() {
        let said = format!("{indent}    {}", text("summary"));
        here.out
            .hanging(Text::from(said.as_str()), indent.len() + 4);
    }
    each(&one["children"]).for_each(|child| draw(here, frames, child, depth + 1));
}

/// What people call a conversation.
pub fn called(one: &Value) -> String {
    let text = |name: &str| match &one[name] {
        Value::Object(summary) => summary.get("content").and_then(Value::as_str),
        value => value.as_str(),
    };
    let by = text("created_by").unwrap_or("somebody");
    match (
        text("title").or(text("summary")),
        one["parent_uuid"].is_null(),
    ) {
        (Some(told), _) => told.lines().next().unwrap_or_default().to_owned(),
        (None, true) => "the first conversation".to_owned(),
        (None, false) => format!("a conversation that {by} began"),
    }
}
