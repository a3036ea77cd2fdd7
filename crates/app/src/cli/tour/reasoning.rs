//! The third act: a hypothesis is tried on a branch and refuted there, and another comes back.

use serde_json::{Value, json};
use understory_engine::reasoning::branch::Branch;
use understory_engine::reasoning::branch_create::Created;
use understory_engine::reasoning::conflict_resolve::Settled;
use understory_engine::reasoning::conflict_show::Conflict;
use understory_engine::reasoning::conflict_show::Shown;
use understory_engine::reasoning::graph_apply::Applied;
use understory_engine::reasoning::graph_diff::{Change, GraphDiff};
use understory_engine::reasoning::graph_merge::GraphMerged;
use understory_engine::reasoning::graph_query::Slice;
use understory_engine::reasoning::merge::Merged;
use understory_engine::reasoning::notes::Committed;
use understory_engine::reasoning::shape::{Entry, Key, Node};
use understory_model::Fault;

use super::{Play, read};
use crate::cli::branch::{key, sides};
use crate::cli::here::typed;
use crate::cli::text::{Style, Text};
use crate::object::with;

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
fn merge(play: &Play<'_>, name: &str) -> Result<Option<String>, Fault> {
    let both = json!({ "from": name, "into": "main", "doc": doc(play) });
    let merged = call(play, "ada", "branchmind_graph_merge", both)?;
    let merged: GraphMerged = typed(&merged)?;
    let conflict = merged.conflict_ids.into_iter().next();
    let show = json!({ "conflict_id": conflict });
    call(play, "ada", "branchmind_graph_conflict_show", show)?;
    Ok(conflict)
}

/// These tools name their workspace.
fn call(play: &Play<'_>, agent: &str, tool: &str, args: Value) -> Result<Value, Fault> {
    let workspace = play.workspace.as_str().into();
    play.call(agent, tool, with(args, [("workspace", workspace)]))
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
    match tool {
        "branchmind_graph_apply" => read(answer, |done: Applied| vec![applied(&done)]),
        "branchmind_branch_create" => read(answer, |made: Created| vec![branched(&made.branch)]),
        "branchmind_notes_commit" => read(answer, |done: Committed| vec![noted(&done.entry)]),
        "branchmind_graph_diff" => read(answer, |diff: GraphDiff| {
            diff.changes.iter().map(differs).collect()
        }),
        "branchmind_graph_merge" => read(answer, |done: GraphMerged| {
            vec![merged(done.merged, &done.conflict_ids)]
        }),
        "branchmind_merge" => read(answer, |done: Merged| vec![merged(done.merged, &[])]),
        "branchmind_graph_conflict_show" => read(answer, |shown: Shown| contested(&shown.conflict)),
        "branchmind_graph_conflict_resolve" => read(answer, |done: Settled| vec![settled(&done)]),
        "branchmind_graph_query" => read(answer, |slice: Slice| {
            slice.nodes.iter().map(thought).collect()
        }),
        _ => None,
    }
}

fn applied(done: &Applied) -> Text {
    let (nodes, edges) = (done.applied.nodes_upserted, done.applied.edges_upserted);
    let on = format!("  on {}", done.branch);
    Text::from(format!("nodes: {nodes}, edges: {edges}")).dim(on)
}

fn branched(branch: &Branch) -> Text {
    let base = branch.base_branch.as_deref().unwrap_or_default();
    let seq = branch.base_seq.unwrap_or_default();
    let sees = format!(" sees {base} up to #{seq}");
    Text::new().name(&branch.name).dim(sees)
}

fn noted(entry: &Entry) -> Text {
    let place = format!("#{} ", entry.seq);
    let content = entry.content.as_deref().unwrap_or_default();
    Text::new().dim(place).plain(content)
}

/// `h1 The clock drifts: refuted`
fn thought(node: &Node) -> Text {
    let title = node.title.as_deref().unwrap_or_default();
    let status = node.status.as_deref().unwrap_or_default();
    let line = Text::new().name(&node.id).plain(format!(" {title}"));
    line.dim(format!("  {status}"))
}

fn differs(change: &Change) -> Text {
    match change {
        Change::Node { to, .. } => thought(to),
        Change::Edge { key: edge, .. } => {
            let edge = key(&Key::Edge(edge.clone()));
            Text::new().dim("edge ").plain(edge)
        }
    }
}

fn merged(count: usize, conflicts: &[String]) -> Text {
    let line = Text::from(format!("merged: {count}"));
    if conflicts.is_empty() {
        line
    } else {
        line.add(Style::Bad, "  conflict")
            .plain(": ")
            .name(conflicts.join(", "))
    }
}

fn contested(conflict: &Conflict) -> Vec<Text> {
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

fn settled(done: &Settled) -> Text {
    Text::new()
        .add(Style::Good, done.status.name())
        .name(format!(" {}", done.conflict_id))
}
