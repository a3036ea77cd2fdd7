//! `understory branch` and `understory checkout`: making a branch of thought, and choosing one.

use std::process::ExitCode;

use serde_json::{Value, json};
use understory_engine::reasoning::branch_create::Created;
use understory_engine::reasoning::checkout::CheckedOut;

use super::branch::ask;
use super::text::{Style, Text};
use super::{Here, Outcome};
use crate::object::with;

const BRANCH_EXAMPLES: &str = "\
Examples:
  understory branch what-if                    from the branch that is checked out
  understory branch what-if --from TASK-003    from a task's branch: its notes and cards come along
  understory branch what-if --checkout         and mean it from now on";

/// Makes a branch.
#[derive(Debug, clap::Args)]
#[command(after_help = BRANCH_EXAMPLES)]
pub struct Branch {
    /// The name of the new branch
    #[arg(value_name = "NAME")]
    name: String,
    /// The branch, plan or task to start from (default: the checked-out branch)
    #[arg(long, value_name = "BRANCH")]
    from: Option<String>,
    /// Also check out the new branch
    #[arg(long)]
    checkout: bool,
}

impl Branch {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let from = self.from.as_deref().map(of);
        let args = json!({ "name": self.name, "from": from });
        let created: Created = ask(&context, "branchmind_branch_create", args)?;
        let mut checked_out = None;
        if self.checkout {
            let args = json!({ "ref": self.name });
            let chosen: CheckedOut = ask(&context, "branchmind_checkout", args)?;
            checked_out = Some(chosen);
        }
        if here.out.json {
            let answer = json!(created);
            here.out.value(&match checked_out {
                Some(checked_out) => with(answer, [("checkout", json!(checked_out))]),
                None => answer,
            });
            return Ok(ExitCode::SUCCESS);
        }
        let mut line = Text::new().name(&self.name);
        if let (Some(base), Some(seq)) = (&created.branch.base_branch, created.branch.base_seq) {
            line = line.dim(format!("  from {base} at #{seq}"));
        }
        here.out.line(if self.checkout {
            line.add(Style::Good, "  checked out")
        } else {
            line
        });
        if !self.checkout {
            here.out
                .hint(format!("Use it: understory checkout {}", self.name));
        }
        Ok(ExitCode::SUCCESS)
    }
}

const CHECKOUT_EXAMPLES: &str = "\
Examples:
  understory checkout what-if
  understory checkout main

The checkout belongs to the workspace: every agent that names no branch reads and writes there.";

/// Chooses the branch that is meant when none is named.
#[derive(Debug, clap::Args)]
#[command(after_help = CHECKOUT_EXAMPLES)]
pub struct Checkout {
    /// The branch, plan or task to check out
    #[arg(value_name = "BRANCH")]
    branch: String,
}

impl Checkout {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let args = json!({ "ref": of(&self.branch) });
        let answer: CheckedOut = ask(&context, "branchmind_checkout", args)?;
        if here.out.json {
            here.out.value(&json!(answer));
            return Ok(ExitCode::SUCCESS);
        }
        let line = Text::new().name(&answer.current);
        let mut line = line.add(Style::Good, "  checked out for all agents");
        if answer.previous != answer.current {
            line = line.dim(format!("  before: {}", answer.previous));
            if let Some(by) = &answer.previous_by {
                line = line.dim(format!(", by {by}"));
            }
        }
        here.out.line(line);
        Ok(ExitCode::SUCCESS)
    }
}

/// The branch that a name at the command line means: `TASK-003` is the branch of that task.
pub fn of(name: &str) -> String {
    let upper = name.to_uppercase();
    if is_handle(&upper) {
        understory_engine::reasoning::place::canonical(&upper)
    } else {
        name.to_owned()
    }
}

/// Whether a name is that of a plan or task.
pub fn is_handle(name: &str) -> bool {
    let number = name
        .strip_prefix("TASK-")
        .or_else(|| name.strip_prefix("PLAN-"));
    number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// How a tool is told what a name at the command line means; nothing means the checkout.
pub fn place(name: Option<&str>) -> Value {
    match (name.and_then(target), name) {
        (Some(target), _) => json!({ "target": target }),
        (None, Some(branch)) => json!({ "branch": branch }),
        (None, None) => json!({}),
    }
}

/// The handle of a plan or task, if the name is one.
pub fn target(name: &str) -> Option<String> {
    Some(name.to_uppercase()).filter(|upper| is_handle(upper))
}
