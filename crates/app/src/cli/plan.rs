//! `understory plan`: a project's plan as a tree, each node marked by where it stands.

use std::process::ExitCode;

use serde_json::json;
use understory_engine::graph::tree::{self, Asked, Row, Status, Tree};
use understory_model::Fault;

use super::claim::handle;
use super::next::known_project;
use super::render::words::count;
use super::text::{Style, Text};
use super::when::Clock;
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory plan                       the whole plan of the project
  understory plan TASK-003              one node and everything below it
  understory plan --open                without what is done or dropped
  understory plan --depth 1 --project shop
  understory plan --json | jq '.nodes[] | select(.status == \"ready\").id'";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only this node and what is below it
    #[arg(value_name = "NODE")]
    top: Option<String>,
    /// Leave out what is done or dropped
    #[arg(long)]
    open: bool,
    /// Maximum depth below the top
    #[arg(long, value_name = "LEVELS")]
    #[arg(value_parser = clap::value_parser!(i64).range(0..=256))]
    depth: Option<i64>,
    /// Maximum number of nodes
    #[arg(long, short = 'n', value_name = "N", default_value_t = 500)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let asked = Asked {
            top: self.top.as_deref().map(handle),
            levels: self.depth,
            most: self.limit,
        };
        let mut found = of(&context, &asked)?;
        if found.nodes.is_empty() {
            known_project(&context)?;
        }
        if self.open {
            found.nodes.retain(|row| !is_closed(row.status));
        }
        if here.out.json {
            here.out.value(&json!(found));
        } else {
            show(here, &context, &found)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The tree that is asked for.
pub fn of(context: &CommandContext, asked: &Asked) -> Result<Tree, Fault> {
    context
        .engine
        .view(&context.caller, |view| tree::tree(view, asked))
}

fn is_closed(status: Status) -> bool {
    matches!(status, Status::Done | Status::Dropped)
}

fn show(here: &Here, context: &CommandContext, found: &Tree) -> Result<(), Fault> {
    let out = &here.out;
    if let Some(reason) = &found.reason {
        out.line(
            context
                .nothing_yet()?
                .unwrap_or_else(|| reason.message.clone()),
        );
        out.hint("Plan something: understory call graph_plan --help");
        return Ok(());
    }
    drawn(&found.nodes, &context.clock)
        .into_iter()
        .for_each(|line| out.cut(line));
    if found.truncated {
        out.hint("There are more: add --limit, or name a NODE.");
    }
    out.blank();
    out.line(legend());
    Ok(())
}

/// Each node in a line, under what it belongs to.
pub fn drawn(rows: &[Row], clock: &Clock) -> Vec<Text> {
    // A level goes on while a later row of it comes before one further up.
    let mut lines = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let mut line = Text::new();
        for level in 1..=row.depth {
            let more = rows[at + 1..]
                .iter()
                .take_while(|later| later.depth >= level)
                .any(|later| later.depth == level);
            line = line.dim(match (level == row.depth, more) {
                (true, true) => "├ ",
                (true, false) => "└ ",
                (false, true) => "│ ",
                (false, false) => "  ",
            });
        }
        lines.push(line.then(told(row, clock)));
    }
    lines
}

fn told(row: &Row, clock: &Clock) -> Text {
    let mut line = sign(row.status)
        .name(&row.id)
        .plain(" ")
        .plain(&row.summary);
    if let Some(state) = &row.state {
        let state = state
            .as_str()
            .map_or_else(|| state.to_string(), str::to_owned);
        line = line.dim(format!("  {state}"));
    }
    if !row.blocked_by.is_empty() {
        line = line.add(
            Style::Warn,
            format!("  waits for {}", row.blocked_by.join(", ")),
        );
    }
    if let Some(claim) = &row.claim {
        let ended = if claim.alive { "" } else { ", session ended" };
        let since = clock.ago(claim.since);
        line = line.dim(format!("  {}, {since}{ended}", claim.by));
    }
    if row.hidden > 0 {
        line = line.dim(format!("  {} below", count(row.hidden, "node")));
    }
    line
}

const STATUSES: [(Status, &str); 6] = [
    (Status::Ready, "ready"),
    (Status::Claimed, "claimed"),
    (Status::Open, "open below"),
    (Status::Blocked, "blocked"),
    (Status::Done, "done"),
    (Status::Dropped, "dropped"),
];

/// The mark of a status.
fn sign(status: Status) -> Text {
    let (style, sign) = match status {
        Status::Ready => (Style::Good, "○ "),
        Status::Claimed => (Style::Name, "◐ "),
        Status::Open => (Style::Plain, "◌ "),
        Status::Blocked => (Style::Warn, "■ "),
        Status::Done => (Style::Good, "✓ "),
        Status::Dropped => (Style::Dim, "✗ "),
    };
    Text::new().add(style, sign)
}

fn legend() -> Text {
    let mut line = Text::new();
    for (status, name) in STATUSES {
        line = line.then(sign(status)).dim(format!("{name}  "));
    }
    line
}
