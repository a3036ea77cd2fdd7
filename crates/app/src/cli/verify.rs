//! `understory verify`: proves that the log is what was written, and that what is derived from it
//! is what the log says.

use std::process::ExitCode;

use serde_json::json;
use understory_engine::verify::{Proof, Report};
use understory_model::Fault;

use super::progress::Progress;
use super::status::count;
use super::text::{Style, Text};
use super::{Desk, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory verify                     every workspace of the store, and core against a replay
  understory verify --shallow           the chain alone: faster
  understory verify --workspace app
  understory verify --json | jq '.workspaces[].breaks'

It ends with 1 when something is not what it was, and names the workspace and the seq.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Leave out the replay: prove the log, not what was derived from it
    #[arg(long)]
    shallow: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let desk = here.desk()?;
        there(&desk, "prove")?;
        let report = proved(&desk, here.flags.workspace.as_deref(), !self.shallow)?;
        if here.out.json {
            here.out.value(&json!(report));
        } else {
            show(here, &report);
        }
        Ok(if report.ok {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// Refuses to say that nothing is in order.
pub fn there(desk: &Desk, what: &str) -> Result<(), Fault> {
    match desk.engine.state()? {
        Some(_) => Ok(()),
        None => Err(Fault::not_found(format!(
            "there is no store at {}: nothing to {what}",
            desk.settings.store.value
        ))
        .hint("Name another with --store or UNDERSTORY_STORE.")),
    }
}

/// Proves a store, telling somebody at a terminal how far it is.
pub fn proved(desk: &Desk, only: Option<&str>, deep: bool) -> Result<Report, Fault> {
    let mut progress = Progress::new();
    desk.engine.verify(only, deep, |workspace, seq| {
        progress.tell(|| format!("{workspace}: checked up to #{seq}"));
    })
}

/// What was proved, a line a workspace.
pub fn show(here: &Here, report: &Report) {
    let out = &here.out;
    for proof in &report.workspaces {
        show_proof(here, proof);
    }
    match &report.core {
        None => {}
        Some(tables) if tables.is_empty() => {
            out.line(verdict(true).plain("core is what a replay of the log gives"))
        }
        Some(tables) => {
            let tables = tables.join(", ");
            out.line(verdict(false).plain(format!("core is not what the log says: {tables}")));
            out.hint("        The log itself decides: `understory rebuild` derives core anew.");
        }
    }
    if report.workspaces.is_empty() {
        out.line("The store has no workspace yet: there is nothing to prove.");
    }
}

fn show_proof(here: &Here, proof: &Proof) {
    let out = &here.out;
    let head: String = proof.head.chars().take(16).collect();
    let line = verdict(proof.ok).bold(&proof.workspace);
    let line = line.plain(format!("  {}", count(proof.items, "item")));
    out.line(line.dim(format!("  head {head}…")));
    for found in &proof.breaks {
        out.line(
            Text::from("        ")
                .add(Style::Bad, format!("{} #{}", proof.workspace, found.seq))
                .plain(format!(": {}", found.what)),
        );
    }
}

/// `ok` or `BROKEN`, in a column of its own.
fn verdict(ok: bool) -> Text {
    if ok {
        Text::new().add(Style::Good, "ok").plain("      ")
    } else {
        Text::new().add(Style::Bad, "BROKEN").plain("  ")
    }
}
