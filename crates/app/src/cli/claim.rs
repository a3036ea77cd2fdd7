//! `understory claim`, `release` and `done`: one task taken, given back or closed.

use std::process::ExitCode;

use serde_json::{Value, json};
use understory_engine::graph::next::Next;
use understory_engine::graph::update::Updated;
use understory_model::{Code, Fault};

use super::here::typed;
use super::render::node::{self, mark};
use super::text::{Style, Text};
use super::{CommandContext, Here, Outcome};

const CLAIM: &str = "\
Examples:
  understory claim TASK-003             take it: nobody else is given it
  understory claim TASK-003 --json      the node with everything around it";

const RELEASE: &str = "\
Examples:
  understory release TASK-003           give it back; others may take it at once
  understory release TASK-003 --reason \"ada is on holiday\"";

const DONE: &str = "\
Examples:
  understory done TASK-003
  understory done TASK-003 --evidence git:abc1234 --evidence 'test:37 passed'
  understory done TASK-003 --reason \"reviewed by bob\" --json";

#[derive(Debug, clap::Args)]
#[command(after_help = CLAIM)]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    id: String,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?.at_shell();
        let id = handle(&self.id);
        update(&context, json!({ "node_id": id, "claim": true }))?;
        let found = context.call("graph_next", json!({ "node_id": id }))?;
        if here.out.json {
            here.out.value(&found);
            return Ok(ExitCode::SUCCESS);
        }
        let found: Next = typed(&found)?;
        match found.nodes.first() {
            Some(ready) => node::ready(here, &context, ready),
            // It may be claimed before it can be started.
            None => {
                let yours = Text::new().add(Style::Good, "Yours").plain(". But ");
                let why = found.reason.map(|reason| reason.message);
                here.out.line(yours.plain(why.unwrap_or_default()));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = RELEASE)]
pub struct ReleaseArgs {
    /// The task
    #[arg(value_name = "TASK")]
    id: String,
    /// The reason, kept in the task's history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl ReleaseArgs {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?.at_shell();
        let id = handle(&self.id);
        let wanted = json!({ "node_id": id, "claim": false, "reason": self.reason });
        let answer = update(&context, wanted)?;
        if here.out.json {
            here.out.value(&answer);
        } else if is_unchanged(&typed(&answer)?) {
            here.out
                .line(Text::new().name(&id).plain(" was claimed by nobody."));
        } else {
            here.out
                .line(Text::new().name(&id).plain(" is free again."));
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = DONE)]
pub struct DoneArgs {
    /// The task
    #[arg(value_name = "TASK")]
    id: String,
    /// Evidence that it is done, as TYPE:TEXT
    #[arg(long, value_name = "TYPE:TEXT")]
    evidence: Vec<String>,
    /// The reason, kept in the task's history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl DoneArgs {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?.at_shell();
        let id = handle(&self.id);
        let evidence = self.evidence.iter().map(|piece| parsed(piece));
        let evidence: Vec<Value> = evidence.collect::<Result<_, _>>()?;
        let answer = update(
            &context,
            json!({
                "node_id": id,
                "resolved": true,
                "add_evidence": evidence,
                "reason": self.reason,
            }),
        )?;
        if here.out.json {
            here.out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        let answer: Updated = typed(&answer)?;
        let line = mark(true).name(&id);
        here.out.line(if is_unchanged(&answer) {
            line.plain(" was done already.")
        } else {
            line.plain(" is done.")
        });
        for free in &answer.newly_actionable {
            let can = Text::new().dim("  can be started now: ").name(&free.id);
            here.out.line(can.plain(" ").plain(&free.summary));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether the one update of a call changed nothing.
fn is_unchanged(answer: &Updated) -> bool {
    answer.updated.iter().all(|node| node.unchanged)
}

fn update(context: &CommandContext, mut wanted: Value) -> Result<Value, Fault> {
    if let Some(fields) = wanted.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    context
        .call("graph_update", json!({ "updates": [wanted] }))
        .map_err(|mut fault| {
            // Agents read their field by its path; a person typed one task.
            for place in ["updates[0].claim: ", "updates[0].node_id: ", "updates[0]: "] {
                if let Some(rest) = fault.message.strip_prefix(place) {
                    fault.message = rest.to_owned();
                }
            }
            if fault.code == Code::Conflict {
                return fault
                    .hint("Who holds what: understory plan.  What is free: understory next");
            }
            fault
        })
}

/// `git:abc1234` as the type and the text of it.
fn parsed(piece: &str) -> Result<Value, Fault> {
    match piece.split_once(':') {
        Some((kind, text)) if !kind.trim().is_empty() && !text.trim().is_empty() => {
            Ok(json!({ "type": kind.trim(), "ref": text.trim() }))
        }
        _ => Err(Fault::invalid("--evidence", "needs a type and a text")
            .hint("Write it as git:abc1234 or 'test:37 passed'.")),
    }
}

/// A task's handle as it is stored: people write `task-3`.
pub fn handle(typed: &str) -> String {
    let typed = typed.trim();
    let numbered = typed.split_once('-').and_then(|(kind, number)| {
        let kind = kind.to_ascii_uppercase();
        let number: u64 = number.parse().ok()?;
        ["TASK", "PLAN"]
            .contains(&kind.as_str())
            .then(|| format!("{kind}-{number:03}"))
    });
    numbered.unwrap_or_else(|| typed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_read_as_people_write_them() {
        assert_eq!(handle("task-3"), "TASK-003");
        assert_eq!(handle(" PLAN-1"), "PLAN-001");
        assert_eq!(handle("TASK-1234"), "TASK-1234");
        assert_eq!(handle("R001"), "R001");
        assert_eq!(handle("task-x"), "task-x");
    }

    #[test]
    fn evidence_has_a_type_and_a_text() {
        assert_eq!(
            parsed("git:a:b").unwrap(),
            json!({"type": "git", "ref": "a:b"})
        );
        for bad in ["", "git", ":x", "git: "] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
