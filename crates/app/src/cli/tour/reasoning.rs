//! The third act: a hypothesis is tried on a branch and refuted there, and another comes back.

use serde_json::{Value, json};
use understory_model::Fault;

use super::Play;
use crate::cli::branch::{key, sides};
use crate::cli::next::each;
use crate::cli::text::{Style, Text};

pub fn act(play: &Play<'_>) -> Result<(), Fault> {
    let name = branch(play);

    play.say("Logins fail at night. Ada has a suspicion, and tries it on a branch of thought.");
    let first = [
        node("q1", "question", "Why do logins fail at night?", "open"),
        node("h1", "hypothesis", "The clock drifts", "open"),
    ];
    apply(play, "ada", "main", &first)?;
    let made = json!({ "name": name, "from": "main" });
    call(play, "ada", "branchmind_branch_create", made)?;

    play.say("It is refuted there, and a second one holds. Main is as it was.");
    let then = [
        node("h1", "hypothesis", "The clock drifts", "refuted"),
        node("h2", "hypothesis", "The key is rotated", "confirmed"),
        json!({ "op": "edge_upsert", "from": "h2", "rel": "supports", "to": "q1" }),
    ];
    apply(play, "ada", &name, &then)?;
    let note = json!({ "branch": name, "doc": "notes", "content": "Clocks agree to 40 ms." });
    call(play, "ada", "branchmind_notes_commit", note)?;
    let diff = json!({ "from": "main", "to": name, "doc": doc(play) });
    call(play, "ada", "branchmind_graph_diff", diff)?;

    play.say("Meanwhile Bob sharpens the first one on main. Both changed it: the merge says so.");
    let sharper = node("h1", "hypothesis", "The clock drifts by hours", "open");
    apply(play, "bob", "main", &[sharper])?;
    let conflict = merge(play, &name)?;

    play.say("Ada has measured, so hers it is. Her note comes back too, with the reason.");
    let settled = json!({ "conflict_id": conflict, "resolution": "use_from" });
    call(play, "ada", "branchmind_graph_conflict_resolve", settled)?;
    let notes = json!({ "from": name, "into": "main" });
    call(play, "ada", "branchmind_merge", notes)?;
    let query = json!({ "branch": "main", "doc": doc(play), "ids": ["h1", "h2"] });
    call(play, "bob", "branchmind_graph_query", query)?;
    Ok(())
}

/// In a store that was named there may be the branch of another tour.
fn branch(play: &Play<'_>) -> String {
    play.project.replacen("shop", "what-if", 1)
}

/// The document that both argue in.
fn doc(play: &Play<'_>) -> String {
    play.project.replacen("shop", "graph", 1)
}

/// Merges the graph, and shows the conflict that comes of it.
fn merge(play: &Play<'_>, name: &str) -> Result<Value, Fault> {
    let both = json!({ "from": name, "into": "main", "doc": doc(play) });
    let merged = call(play, "ada", "branchmind_graph_merge", both)?;
    let conflict = merged["conflict_ids"][0].clone();
    let show = json!({ "conflict_id": conflict });
    call(play, "ada", "branchmind_graph_conflict_show", show)?;
    Ok(conflict)
}

/// These tools name their workspace.
fn call(play: &Play<'_>, agent: &str, tool: &str, mut args: Value) -> Result<Value, Fault> {
    args["workspace"] = play.workspace.clone().into();
    play.call(agent, tool, args)
}

fn node(id: &str, kind: &str, title: &str, status: &str) -> Value {
    json!({ "op": "node_upsert", "id": id, "type": kind, "title": title, "status": status })
}

fn apply(play: &Play<'_>, agent: &str, branch: &str, ops: &[Value]) -> Result<Value, Fault> {
    let args = json!({ "branch": branch, "doc": doc(play), "ops": ops });
    call(play, agent, "branchmind_graph_apply", args)
}

/// An answer in a few lines; `None` for tools of another act.
pub fn told(tool: &str, answer: &Value) -> Option<Vec<Text>> {
    Some(match tool {
        "branchmind_graph_apply" => vec![applied(answer)],
        "branchmind_branch_create" => vec![made(&answer["branch"])],
        "branchmind_notes_commit" => vec![noted(&answer["entry"])],
        "branchmind_graph_diff" => each(&answer["changes"]).map(differs).collect(),
        "branchmind_graph_merge" | "branchmind_merge" => vec![merged(answer)],
        "branchmind_graph_conflict_show" => contested(&answer["conflict"]),
        "branchmind_graph_conflict_resolve" => vec![settled(answer)],
        "branchmind_graph_query" => each(&answer["nodes"]).map(thought).collect(),
        _ => return None,
    })
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn applied(answer: &Value) -> Text {
    let done = &answer["applied"];
    let number = |name: &str| done[name].as_i64().unwrap_or(0);
    let (nodes, edges) = (number("nodes_upserted"), number("edges_upserted"));
    let on = format!("  on {}", text(answer, "branch"));
    Text::from(format!("nodes: {nodes}, edges: {edges}")).dim(on)
}

fn made(branch: &Value) -> Text {
    Text::new().name(text(branch, "name")).dim(format!(
        " sees {} up to #{}",
        text(branch, "base_branch"),
        branch["base_seq"]
    ))
}

fn noted(entry: &Value) -> Text {
    let place = format!("#{} ", entry["seq"]);
    Text::new().dim(place).plain(text(entry, "content"))
}

/// `h1 The clock drifts: refuted`
fn thought(node: &Value) -> Text {
    let title = format!(" {}", text(node, "title"));
    let line = Text::new().name(text(node, "id")).plain(title);
    line.dim(format!("  {}", text(node, "status")))
}

fn differs(change: &Value) -> Text {
    match change["kind"] == "node" {
        true => thought(&change["to"]),
        false => Text::new().dim("edge ").plain(key(&change["key"])),
    }
}

fn merged(answer: &Value) -> Text {
    let line = Text::from(format!("merged: {}", answer["merged"]));
    let ids: Vec<&str> = each(&answer["conflict_ids"])
        .filter_map(Value::as_str)
        .collect();
    match ids.is_empty() {
        true => line,
        false => line
            .add(Style::Bad, "  conflict")
            .plain(": ")
            .name(ids.join(", ")),
    }
}

fn contested(conflict: &Value) -> Vec<Text> {
    let mut lines = Vec::new();
    for (field, block) in sides(conflict) {
        let mut line = Text::new().plain(format!("{field}: "));
        for (at, (side, value)) in block.into_iter().enumerate() {
            let between = if at > 0 { " · " } else { "" };
            line = line.plain(between).dim(format!("{side} ")).then(value);
        }
        lines.push(line);
    }
    lines
}

fn settled(answer: &Value) -> Text {
    Text::new()
        .add(Style::Good, text(answer, "status"))
        .name(format!(" {}", text(answer, "conflict_id")))
}
