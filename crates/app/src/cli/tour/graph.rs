//! The first act: two agents share work without taking each other's.

use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::graph::connect::{Connected, Refusal, Rejected};
use understory_engine::graph::history::{Event, History};
use understory_engine::graph::next::Next;
use understory_engine::graph::open::Root;
use understory_engine::graph::plan::{Created, Planned};
use understory_engine::graph::update::Updated;
use understory_model::Fault;

use super::{Play, read};
use crate::cli::render::node::{brief, mark, own_property, proof};
use crate::cli::text::{Style, Text};

pub fn act(play: &Play<'_>) -> Result<(), Fault> {
    play.say("Ada, an agent, opens a project and breaks its goal down.");
    let goal = json!({ "project": play.project, "goal": "Ship the web shop" });
    let opened: Root = play.answer("ada", "graph_open", goal)?;
    let [api, page, guide, launch] = plan(play)?;

    play.say("Ada and Bob each ask for work. No task is handed out twice.");
    take(play, "ada")?;
    take(play, "bob")?;

    play.say("Bob is done first. What is left waits for Ada, so nothing is free.");
    finish(play, "bob", &guide, "file", "docs/guide.md")?;
    take(play, "bob")?;

    play.say("Ada finishes with evidence, and is told what that unblocked.");
    finish(play, "ada", &api, "git", "4f2a91c")?;

    play.say("Bob gets it, with the evidence of what it was waiting for.");
    take(play, "bob")?;

    play.say("A circle is refused, and shown.");
    let edge = json!({ "from": api, "to": launch, "type": "depends_on" });
    play.call("bob", "graph_connect", json!({ "edges": [edge] }))?;
    finish(play, "bob", &page, "test", "37 passed")?;

    play.say("The last thing was waiting for both.");
    take(play, "ada")?;
    finish(play, "ada", &launch, "git", "9c31e07")?;
    finish(play, "ada", &opened.root.id, "note", "the shop is live")?;

    play.say("Anybody can ask later what happened, and why.");
    play.call("bob", "graph_history", json!({ "node_id": page }))?;
    Ok(())
}

fn plan(play: &Play<'_>) -> Result<[String; 4], Fault> {
    let nodes = json!([
        { "ref": "api", "summary": "Write the API", "properties": { "priority": 2 } },
        { "ref": "page", "summary": "Write the shop page", "depends_on": ["api"] },
        { "ref": "guide", "summary": "Write the guide" },
        { "ref": "launch", "summary": "Launch", "depends_on": ["page", "guide"] },
    ]);
    let planned: Planned = play.answer("ada", "graph_plan", json!({ "nodes": nodes }))?;
    let id = |name: &str| {
        let mut made = planned.created.iter();
        let made = made.find(|made| made.reference == name);
        made.map(|made| made.id.clone()).unwrap_or_default()
    };
    Ok([id("api"), id("page"), id("guide"), id("launch")])
}

fn take(play: &Play<'_>, agent: &str) -> Result<Value, Fault> {
    play.call(agent, "graph_next", json!({ "claim": true }))
}

fn finish(
    play: &Play<'_>,
    agent: &str,
    node: &str,
    kind: &str,
    proof: &str,
) -> Result<Value, Fault> {
    let proof = json!([{ "type": kind, "ref": proof }]);
    let update = json!({ "node_id": node, "resolved": true, "add_evidence": proof });
    play.call(agent, "graph_update", json!({ "updates": [update] }))
}

/// An answer in a few lines; `None` for tools of another act.
pub fn told(tool: &str, answer: &Value) -> Option<Vec<Text>> {
    match tool {
        "graph_open" => read(answer, |open: Root| {
            vec![brief(&open.root.id, &open.root.summary)]
        }),
        "graph_plan" => read(answer, |plan: Planned| {
            plan.created.iter().map(planned).collect()
        }),
        "graph_next" => read(answer, |next: Next| taken(&next)),
        "graph_update" => read(answer, |done: Updated| updated(&done)),
        "graph_connect" => read(answer, |done: Connected| {
            done.rejected.iter().map(rejected).collect()
        }),
        "graph_history" => read(answer, |history: History| {
            history.events.iter().map(event).collect()
        }),
        _ => None,
    }
}

fn planned(made: &Created) -> Text {
    Text::new()
        .name(&made.id)
        .dim(format!(" {}", made.reference))
}

fn taken(next: &Next) -> Vec<Text> {
    let mut lines = Vec::new();
    for found in &next.nodes {
        let node = &found.node;
        let by = own_property(&node.properties, "_claimed_by");
        let by = format!("  claimed by {}", by.unwrap_or("nobody"));
        lines.push(brief(&node.id, &node.summary).dim(by));
        for done in &found.resolved_deps {
            let line = Text::new().dim("after ").then(mark(true));
            let line = line.then(brief(&done.id, &done.summary));
            lines.push(line.dim(format!("  {}", proof(&done.evidence))));
        }
    }
    if let Some(reason) = next.reason.as_ref().filter(|_| lines.is_empty()) {
        lines.push(Text::new().dim(&reason.message));
    }
    lines
}

fn updated(answer: &Updated) -> Vec<Text> {
    let mut lines = Vec::new();
    for done in &answer.updated {
        let rev = format!(" rev {}", done.rev);
        lines.push(mark(true).name(&done.node_id).dim(rev));
    }
    for free in &answer.newly_actionable {
        let free = brief(&free.id, &free.summary);
        lines.push(Text::new().dim("can start now: ").then(free));
    }
    lines
}

fn rejected(edge: &Rejected) -> Text {
    let reason = match edge.reason {
        Refusal::NodeNotFound => "node_not_found",
        Refusal::EdgeNotFound => "edge_not_found",
        Refusal::DuplicateEdge => "duplicate_edge",
        Refusal::CycleDetected => "cycle_detected",
    };
    Text::new()
        .add(Style::Bad, reason)
        .plain(format!(": {}", edge.cycle.join(" → ")))
}

fn event(event: &Event) -> Text {
    let pieces = event.changes.iter();
    let pieces = pieces.filter_map(|change| Piece::deserialize(&change.after).ok());
    let proof: Vec<String> = pieces
        .map(|piece| format!("{} {}", piece.kind, piece.reference))
        .collect();
    Text::from(format!("{} {}", event.agent, event.action)).dim(format!("  {}", proof.join(", ")))
}

/// A change of a node that added evidence to it.
#[derive(Deserialize)]
struct Piece {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "ref")]
    reference: String,
}
