//! `understory next`: what to work on now, or take it.

use std::process::ExitCode;

use serde_json::{Value, json};
use understory_engine::graph::open;
use understory_model::Fault;
use understory_model::nearest::nearest;

use super::table::Table;
use super::text::{Style, Text};
use super::tree::brief;
use super::when::Clock;
use super::{Desk, Here, Outcome};
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
        let desk = here.desk()?.at_shell();
        let mut args = json!({ "count": self.count, "claim": self.claim });
        if let Some(scope) = &self.scope {
            args["scope"] = scope.as_str().into();
        }
        let answer = desk.call("graph_next", args)?;
        let nodes = answer["nodes"].as_array().cloned().unwrap_or_default();
        if nodes.is_empty() {
            known_project(&desk)?;
        }
        if here.out.json {
            here.out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        match nodes.as_slice() {
            [] => nothing(here, &desk, &answer["reason"])?,
            [node] => one(here, &desk, node),
            nodes => many(here, nodes, self.claim),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Refuses a project that somebody named and that is not there, once others are.
pub fn known_project(desk: &Desk) -> Result<(), Fault> {
    if desk.settings.project.source == Source::Default {
        return Ok(());
    }
    let name = desk.caller.project.as_str();
    let list = desk.engine.view(&desk.caller, open::list)?;
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
fn nothing(here: &Here, desk: &Desk, reason: &Value) -> Result<(), Fault> {
    let out = &here.out;
    if let Some(why) = desk.nothing_yet()? {
        out.line(why);
        out.hint("Plan something: understory call graph_plan --help");
        return Ok(());
    }
    out.line(reason["message"].as_str().unwrap_or_default());
    for claim in each(&reason["claims"]) {
        out.line(Text::from("  ").then(held(claim, &desk.clock)));
    }
    for awaited in each(&reason["waits_for"]) {
        out.line(Text::from("  waits for ").then(brief(awaited)));
    }
    out.hint(match reason["code"].as_str() {
        Some("nothing_planned" | "all_done") => "Plan something: understory call graph_plan --help",
        Some("all_claimed") => "All of it: understory plan.  Free one: understory release TASK",
        Some("deadlock") => "Take a dependency away: understory call graph_connect --help",
        _ => "All of it: understory plan",
    });
    Ok(())
}

/// `TASK-003 is claimed by ann since 3 min ago, session sess_1`
pub fn held(claim: &Value, clock: &Clock) -> Text {
    let text = |name: &str| claim[name].as_str().unwrap_or_default();
    let gone = match claim["alive"].as_bool() {
        Some(false) => ", which has ended",
        _ => "",
    };
    Text::new()
        .name(text("id"))
        .plain(format!(" claimed by {}", text("by")))
        .dim(format!(
            "  {}, session {}{gone}",
            clock.ago_text(text("since")),
            text("session")
        ))
}

/// One node with what one needs to start on it, and how to go on.
pub fn one(here: &Here, desk: &Desk, found: &Value) {
    let out = &here.out;
    let node = &found["node"];
    out.line(brief_bold(node));
    out.fields(2, about(found));
    let id = node["id"].as_str().unwrap_or_default();
    let by = node["properties"]["_claimed_by"].as_str();
    let session = node["properties"]["_claimed_session"].as_str();
    out.blank();
    if by == Some(&desk.caller.agent) && session == Some(&desk.caller.session) {
        let yours = Text::new().add(Style::Good, "Yours").plain(", ");
        out.line(yours.bold(&desk.caller.agent).plain(". When it is done:"));
        out.written(&Text::from(format!(
            "  understory done {id} --evidence git:COMMIT"
        )));
    } else {
        out.hint(format!(
            "Take it: understory claim {id}.  All of it: understory show {id}"
        ));
    }
}

/// What one needs to know to start on it.
fn about(found: &Value) -> Vec<(String, Text)> {
    let mut fields = Vec::new();
    let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
    let mut above = Text::new();
    for (at, ancestor) in each(&found["ancestors"]).enumerate() {
        let arrow = if at > 0 { " › " } else { "" };
        above = above.dim(arrow).then(brief(ancestor));
    }
    if !above.is_empty() {
        field("in", above);
    }
    for (name, value) in properties(&found["node"]) {
        field(name, Text::from(value));
    }
    for link in each(&found["context_links"]["self"]) {
        field("link", Text::from(link.as_str().unwrap_or_default()));
    }
    for inherited in each(&found["context_links"]["inherited"]) {
        for link in each(&inherited["links"]) {
            let from = inherited["node_id"].as_str().unwrap_or_default();
            let link = link.as_str().unwrap_or_default();
            field("link", Text::from(link).dim(format!("  from {from}")));
        }
    }
    for done in each(&found["resolved_deps"]) {
        let proof: Vec<String> = each(&done["evidence"]).map(evidence).collect();
        let proof = proof.join(", ");
        field("after", brief(done).dim(format!("  {proof}")));
    }
    fields
}

fn many(here: &Here, nodes: &[Value], claimed: bool) {
    let mut table = Table::new(&["id", "summary", "priority", "under"]);
    for found in nodes {
        let node = &found["node"];
        let parent = each(&found["ancestors"]).last();
        table.row([
            Text::new().name(node["id"].as_str().unwrap_or_default()),
            Text::from(node["summary"].as_str().unwrap_or_default()),
            match &node["properties"]["priority"] {
                Value::Null => Text::new(),
                priority => Text::from(priority.to_string()),
            },
            parent.map(brief).unwrap_or_default(),
        ]);
    }
    here.out.table(table);
    if claimed {
        here.out.blank();
        here.out.line("All of these are yours now.");
    }
}

/// The elements of what should be a list.
pub fn each(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn brief_bold(node: &Value) -> Text {
    let text = |name: &str| node[name].as_str().unwrap_or_default();
    Text::new()
        .name(text("id"))
        .plain("  ")
        .bold(text("summary"))
}

/// What callers wrote on a node; what the product keeps there itself begins with `_`.
pub fn properties(node: &Value) -> impl Iterator<Item = (&String, String)> {
    let fields = node["properties"].as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| !name.starts_with('_'))
        .map(|(name, value)| {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            (name, text)
        })
}

/// `git abc123`
pub fn evidence(piece: &Value) -> String {
    let text = |name: &str| piece[name].as_str().unwrap_or_default();
    format!("{} {}", text("type"), text("ref"))
}
