//! `understory next`: what to work on now, or take it.

use std::process::ExitCode;

use serde_json::json;
use understory_engine::graph::next::{Next, Ready};
use understory_engine::graph::open;
use understory_engine::graph::why::{Code, Reason};
use understory_model::Fault;
use understory_model::nearest::nearest;

use super::here::typed;
use super::render::node;
use super::table::Table;
use super::text::Text;
use super::{CommandContext, Here, Outcome};
use crate::config::Source;

const EXAMPLES: &str = "\
Examples:
  understory next                       the best thing to do now
  understory next --claim               take it: nobody else is told the same
  understory claim TASK-003             take this one
  understory next --count 10 --scope TASK-003
  understory next --project shop --json";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Claim what is shown, until it is done or released or the claim expires
    #[arg(long)]
    claim: bool,
    /// Maximum number of nodes
    #[arg(long, short = 'n', value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=200))]
    count: i64,
    /// Only below this node
    #[arg(long, value_name = "ID")]
    scope: Option<String>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?.at_shell();
        let args = json!({ "count": self.count, "claim": self.claim, "scope": self.scope });
        let answer = context.call("graph_next", args)?;
        let next: Next = typed(&answer)?;
        if next.nodes.is_empty() {
            known_project(&context)?;
        }
        if here.out.json {
            here.out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        match next.nodes.as_slice() {
            [] => nothing(here, &context, next.reason.as_ref())?,
            [found] => node::ready(here, &context, found),
            nodes => many(here, nodes, self.claim),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Refuses a project that somebody named and that is not there, once others are.
pub fn known_project(context: &CommandContext) -> Result<(), Fault> {
    if context.settings.project.source == Source::Default {
        return Ok(());
    }
    let name = context.caller.project.as_str();
    let list = context.engine.view(&context.caller, open::list)?;
    let names: Vec<&str> = list.projects.iter().map(|one| one.id.as_str()).collect();
    if names.is_empty() || names.contains(&name) {
        return Ok(());
    }
    let near = nearest(name, names.iter().copied(), 3);
    let near = if near.is_empty() {
        names.join(", ")
    } else {
        near.join(" or ")
    };
    Err(Fault::not_found(format!("no project {name}")).hint(format!(
        "There is {near}; graph_open or create_project makes a new one."
    )))
}

/// Why there is nothing to do, in the words that agents are told.
fn nothing(here: &Here, context: &CommandContext, reason: Option<&Reason>) -> Result<(), Fault> {
    let out = &here.out;
    if let Some(why) = context.nothing_yet()? {
        out.line(why);
        out.hint("Plan something: understory call graph_plan --help");
        return Ok(());
    }
    let Some(reason) = reason else {
        out.hint("All of it: understory plan");
        return Ok(());
    };
    out.line(reason.message.as_str());
    for claim in &reason.claims {
        out.line(Text::from("  ").then(node::held(claim, &context.clock)));
    }
    for awaited in &reason.waits_for {
        let awaited = node::brief(&awaited.id, &awaited.summary);
        out.line(Text::from("  waits for ").then(awaited));
    }
    out.hint(match reason.code {
        Code::NothingPlanned | Code::AllDone => "Plan something: understory call graph_plan --help",
        Code::AllClaimed => "All of it: understory plan.  Free one: understory release TASK",
        Code::Deadlock => "Take a dependency away: understory call graph_connect --help",
        Code::NoMatch | Code::AllWaiting => "All of it: understory plan",
    });
    Ok(())
}

fn many(here: &Here, nodes: &[Ready], claimed: bool) {
    let mut table = Table::new(&["id", "summary", "priority", "under"]);
    for Ready {
        node, ancestors, ..
    } in nodes
    {
        let parent = ancestors.last();
        let parent = parent.map(|parent| node::brief(&parent.id, &parent.summary));
        table.row([
            Text::new().name(&node.id),
            Text::from(node.summary.as_str()),
            node::priority(&node.properties),
            parent.unwrap_or_default(),
        ]);
    }
    here.out.table(table);
    if claimed {
        here.out.blank();
        here.out.line("All of these are yours now.");
    }
}
