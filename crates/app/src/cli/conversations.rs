//! `understory conversations`: what is talked about in a project, as the tree that it is.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde_json::json;
use understory_engine::garden::conversation::frame::Place;
use understory_engine::garden::conversation::log::State;
use understory_engine::garden::conversation::stack::{Branch, Stack};

use super::here::typed;
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
        let context = here.context()?;
        let asked = json!({ "project": here.flags.project, "limit": SHOWN });
        let answer = context.call("garden_stack", asked)?;
        if here.out.json {
            here.out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        let stack: Stack = typed(&answer)?;
        if stack.tree.is_empty() {
            let why = context.nothing_yet()?;
            here.out
                .line(why.unwrap_or_else(|| "Nobody has talked here yet.".to_owned()));
            return Ok(ExitCode::SUCCESS);
        }
        for one in &stack.tree {
            draw(here, &stack.frames, one, 0);
        }
        if stack.pagination.next_cursor.is_some() {
            here.out.hint(format!("The first {SHOWN} are shown."));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A conversation and those that came from it.
fn draw(here: &Here, frames: &BTreeMap<String, Place>, one: &Branch, depth: usize) {
    let indent = "  ".repeat(depth);
    let (title, summary) = (one.title.as_deref(), one.summary.as_deref());
    let name = called(
        title.or(summary),
        one.parent_uuid.as_deref(),
        &one.created_by,
    );
    let mut line = Text::from(indent.as_str()).bold(name);
    line = match one.state {
        State::Active => line.add(Style::Good, "  open"),
        State::Collapsed => line.dim("  collapsed"),
    };
    let here_now: Vec<&str> = frames
        .iter()
        .filter(|(_, frame)| frame.branch_uuid.as_deref() == Some(&one.uuid))
        .map(|(who, _)| who.as_str())
        .collect();
    if !here_now.is_empty() {
        line = line.plain(format!("  {}", here_now.join(", ")));
    }
    here.out.cut(line.dim(format!("  {}", one.uuid)));
    // A title says what it was about, and the summary what came of it.
    if let (Some(_), Some(summary)) = (title, summary) {
        let said = format!("{indent}    {summary}");
        here.out
            .hanging(Text::from(said.as_str()), indent.len() + 4);
    }
    for child in &one.children {
        draw(here, frames, child, depth + 1);
    }
}

/// What people call a conversation: by what was told about it, or by who began it.
pub fn called(told: Option<&str>, parent: Option<&str>, by: &str) -> String {
    match (told, parent) {
        (Some(told), _) => told.lines().next().unwrap_or_default().to_owned(),
        (None, None) => "the first conversation".to_owned(),
        (None, Some(_)) => format!("a conversation that {by} began"),
    }
}
