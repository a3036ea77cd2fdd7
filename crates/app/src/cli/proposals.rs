//! `understory proposals`: changes of artifacts that somebody proposed, and what becomes of them.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::{Value, json};
use understory_engine::garden::reader::lines_told;

use super::next::each;
use super::text::{Style, Text};
use super::when::Clock;
use super::{Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory proposals                  what waits for a decision
  understory proposals --artifact goals_doc --all
  understory proposals accept prop_003
  understory proposals reject prop_004 --note 'too early'";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only proposals for this artifact
    #[arg(long, value_name = "LABEL")]
    artifact: Option<String>,
    /// Include decided proposals
    #[arg(long)]
    all: bool,
    #[command(subcommand)]
    decision: Option<Decision>,
}

#[derive(Debug, Subcommand)]
enum Decision {
    /// Commit a proposal
    Accept(Named),
    /// Decline a proposal
    Reject(Named),
}

#[derive(Debug, clap::Args)]
struct Named {
    /// The proposal, such as prop_001
    #[arg(value_name = "ID")]
    id: String,
    /// A comment on the decision
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let desk = here.desk()?;
        let project = here.flags.project.as_deref();
        if let Some(decision) = self.decision {
            let (accept, named) = match decision {
                Decision::Accept(named) => (true, named),
                Decision::Reject(named) => (false, named),
            };
            let mut asked = json!({ "proposal": named.id, "accept": accept, "project": project });
            if let Some(note) = named.note {
                asked["note"] = note.into();
            }
            let answer = desk.call("reader_decide", asked)?;
            match here.out.json {
                true => here.out.value(&answer),
                false => print(here, &desk.clock, &answer["proposal"]),
            }
            return Ok(ExitCode::SUCCESS);
        }
        let status = if self.all { "any" } else { "open" };
        let asked = json!({ "artifact": self.artifact, "status": status, "project": project });
        let answer = desk.call("reader_proposals", asked)?;
        if here.out.json {
            here.out.value(&answer);
        } else if each(&answer["proposals"]).next().is_none() {
            here.out.line(match self.all {
                true => "Nothing was ever proposed here.",
                false => "No proposal waits for a decision.",
            });
        } else {
            each(&answer["proposals"]).for_each(|one| print(here, &desk.clock, one));
            if answer["pagination"]["next_cursor"].is_string() {
                here.out.hint("There are more: --artifact narrows it.");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A proposal as a person decides about it: where, instead of what, and why.
pub fn print(here: &Here, clock: &Clock, one: &Value) {
    let (out, text) = (&here.out, |name: &str| {
        one[name].as_str().unwrap_or_default()
    });
    let line = |name: &str| one[name].as_i64().unwrap_or_default();
    let place = lines_told(line("start"), line("end"));
    let head = Text::new().name(text("id")).plain("  ").bold(text("label"));
    let head = head.plain(format!(" {place}  "));
    let head = match text("status") {
        "open" => head.add(Style::Warn, "open"),
        "accepted" => head.add(Style::Good, "accepted"),
        status => head.dim(status),
    };
    let when = clock.ago_text(text("created_at"));
    out.line(head.dim(format!("  {} {when}", text("proposed_by"))));
    for said in text("content").lines() {
        out.cut(Text::new().add(Style::Good, "  + ").plain(said));
    }
    if text("content").is_empty() {
        out.line(Text::new().dim("  takes them away"));
    }
    out.hanging(Text::from(format!("  {}", text("reasoning")).as_str()), 2);
    if !text("decided_by").is_empty() {
        let note = text("note");
        let colon = if note.is_empty() { "" } else { ": " };
        out.line(Text::new().dim(format!(
            "  {} by {}{colon}{note}",
            text("status"),
            text("decided_by")
        )));
    }
}
