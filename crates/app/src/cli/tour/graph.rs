//! The first act: two agents share work without taking each other's.

use serde_json::{Value, json};
use understory_model::Fault;

use super::Play;
use crate::cli::next::{each, evidence};
use crate::cli::text::{Style, Text};
use crate::cli::tree::{brief, mark};

pub fn act(play: &Play<'_>) -> Result<(), Fault> {
    play.say("Ada, an agent, opens a project and breaks its goal down.");
    let goal = json!({ "project": play.project, "goal": "Ship the web shop" });
    let root = play.call("ada", "graph_open", goal)?["root"]["id"].take();
    let [api, page, guide, launch] = plan(play)?;

    play.say("Ada and Bob each ask for work. Nobody is told what another has.");
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
    let root = root.as_str().unwrap_or_default();
    finish(play, "ada", root, "note", "the shop is live")?;

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
    let answer = play.call("ada", "graph_plan", json!({ "nodes": nodes }))?;
    let id = |name: &str| {
        let made = each(&answer["created"]).find(|made| made["ref"] == name);
        made.and_then(|made| made["id"].as_str())
            .unwrap_or_default()
            .to_owned()
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
    Some(match tool {
        "graph_open" => vec![brief(&answer["root"])],
        "graph_plan" => each(&answer["created"]).map(planned).collect(),
        "graph_next" => taken(answer),
        "graph_update" => updated(answer),
        "graph_connect" => each(&answer["rejected"]).map(rejected).collect(),
        "graph_history" => each(&answer["events"]).map(event).collect(),
        _ => return None,
    })
}

fn planned(made: &Value) -> Text {
    let text = |name: &str| made[name].as_str().unwrap_or_default();
    Text::new()
        .name(text("id"))
        .dim(format!(" {}", text("ref")))
}

fn taken(answer: &Value) -> Vec<Text> {
    let mut lines = Vec::new();
    for found in each(&answer["nodes"]) {
        let by = found["node"]["properties"]["_claimed_by"].as_str();
        let by = format!("  claimed by {}", by.unwrap_or("nobody"));
        lines.push(brief(&found["node"]).dim(by));
        for done in each(&found["resolved_deps"]) {
            let proof: Vec<String> = each(&done["evidence"]).map(evidence).collect();
            let line = Text::new().dim("after ").then(mark(true)).then(brief(done));
            lines.push(line.dim(format!("  {}", proof.join(", "))));
        }
    }
    if lines.is_empty() {
        lines.push(Text::new().dim(answer["reason"]["message"].as_str().unwrap_or_default()));
    }
    lines
}

fn updated(answer: &Value) -> Vec<Text> {
    let mut lines = Vec::new();
    for done in each(&answer["updated"]) {
        let id = done["node_id"].as_str().unwrap_or_default();
        lines.push(mark(true).name(id).dim(format!(" rev {}", done["rev"])));
    }
    for free in each(&answer["newly_actionable"]) {
        lines.push(Text::new().dim("can start now: ").then(brief(free)));
    }
    lines
}

fn rejected(edge: &Value) -> Text {
    let path: Vec<&str> = each(&edge["cycle"]).filter_map(Value::as_str).collect();
    let reason = edge["reason"].as_str().unwrap_or_default();
    Text::new()
        .add(Style::Bad, reason)
        .plain(format!(": {}", path.join(" → ")))
}

fn event(event: &Value) -> Text {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let proof: Vec<String> = each(&event["changes"])
        .filter(|change| change["after"].get("ref").is_some())
        .map(|change| evidence(&change["after"]))
        .collect();
    Text::from(format!("{} {}", text("agent"), text("action")))
        .dim(format!("  {}", proof.join(", ")))
}
