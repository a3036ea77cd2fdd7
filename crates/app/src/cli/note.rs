//! `understory note`: a note of your own on a task or a branch.

use std::process::ExitCode;

use serde_json::json;
use understory_engine::reasoning::notes::Committed;

use super::branch::ask;
use super::checkout::place;
use super::post::body;
use super::text::{Style, Text};
use super::{Here, Outcome};
use crate::object::with;

const EXAMPLES: &str = "\
Examples:
  understory note 'Retries hide the real fault' --on TASK-003
  understory note 'Chose SQLite' --title Decision
  git log -3 | understory note - --on what-if
  understory notes TASK-003             the notes of a task";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The note's text; `-` or no text reads standard input
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// The plan, task or branch (default: the checked-out branch)
    #[arg(long, value_name = "WHERE")]
    on: Option<String>,
    /// The note's title
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let content = body(self.text.as_deref())?;
        let args = with(
            place(self.on.as_deref()),
            [("content", content.into()), ("title", self.title.into())],
        );
        let answer: Committed = ask(&here.context()?, "branchmind_notes_commit", args)?;
        if here.out.json {
            here.out.value(&json!(answer));
            return Ok(ExitCode::SUCCESS);
        }
        let entry = &answer.entry;
        let line = Text::new().plain(format!("noted  #{} on ", entry.seq));
        here.out
            .line(line.name(&entry.branch).dim(format!("  {}", entry.doc)));
        if let Some(warning) = answer.warning {
            here.out.line(Text::new().add(Style::Warn, warning));
        }
        Ok(ExitCode::SUCCESS)
    }
}
