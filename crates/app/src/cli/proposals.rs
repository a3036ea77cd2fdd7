//! `understory proposals`: changes of artifacts that somebody proposed, and what becomes of them.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;
use understory_engine::garden::reader::{Decided, Proposals, ShownProposal, Status};
use understory_engine::kernel::content::call::lines as lines_told;

use super::here::typed;
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
        let context = here.context()?;
        let project = here.flags.project.as_deref();
        if let Some(decision) = self.decision {
            let (accept, named) = match decision {
                Decision::Accept(named) => (true, named),
                Decision::Reject(named) => (false, named),
            };
            let asked = json!({
                "proposal": named.id, "accept": accept, "project": project, "note": named.note,
            });
            let answer = context.call("reader_decide", asked)?;
            if here.out.json {
                here.out.value(&answer)
            } else {
                print(here, &context.clock, &typed::<Decided>(&answer)?.proposal)
            }
            return Ok(ExitCode::SUCCESS);
        }
        let status = if self.all { "any" } else { "open" };
        let asked = json!({ "artifact": self.artifact, "status": status, "project": project });
        let answer = context.call("reader_proposals", asked)?;
        if here.out.json {
            here.out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        let listed: Proposals = typed(&answer)?;
        if listed.proposals.is_empty() {
            here.out.line(if self.all {
                "Nothing was ever proposed here."
            } else {
                "No proposal waits for a decision."
            });
        } else {
            for one in &listed.proposals {
                print(here, &context.clock, one);
            }
            if listed.paging.pagination.next_cursor.is_some() {
                here.out.hint("There are more: --artifact narrows it.");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A proposal as a person decides about it: where, instead of what, and why.
pub fn print(here: &Here, clock: &Clock, one: &ShownProposal) {
    let (out, state) = (&here.out, &one.state);
    let place = lines_told(state.start, state.end);
    let head = Text::new().name(&one.id).plain("  ").bold(&state.label);
    let head = head.plain(format!(" {place}  "));
    let head = match state.status {
        Status::Open => head.add(Style::Warn, "open"),
        Status::Accepted => head.add(Style::Good, "accepted"),
        Status::Rejected => head.dim("rejected"),
    };
    let when = clock.ago(one.created_at);
    let sure = one
        .confidence
        .map(|sure| format!(", {}% sure", (sure * 100.0).round()));
    let sure = sure.unwrap_or_default();
    out.line(head.dim(format!("  {} {when}{sure}", one.proposed_by)));
    let content = one.content.as_deref().unwrap_or_default();
    for said in content.lines() {
        out.cut(Text::new().add(Style::Good, "  + ").plain(said));
    }
    if content.is_empty() {
        out.line(Text::new().dim("  takes them away"));
    }
    let reasoning = one.reasoning.as_deref().unwrap_or_default();
    out.hanging(Text::from(format!("  {reasoning}").as_str()), 2);
    if let Some(by) = &state.decided_by {
        let note = state.note.as_deref().unwrap_or_default();
        let colon = if note.is_empty() { "" } else { ": " };
        let status = match state.status {
            Status::Open => "open",
            Status::Accepted => "accepted",
            Status::Rejected => "rejected",
        };
        out.line(Text::new().dim(format!("  {status} by {by}{colon}{note}")));
    }
}
