//! Branches, entries of documents, versions of graph nodes and edges, and conflicts of merges.

use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::item::Item;
use understory_storage::Tx;
use understory_storage::branches::{self, Branch};
use understory_storage::conflicts::{self, Conflict};
use understory_storage::entries::{self, Entry};
use understory_storage::texts::Text;
use understory_storage::vertices::Vertex;

use super::{damaged, node};
use crate::core::Core;
use crate::search::sort;

fn content(item: &Item) -> Result<Value> {
    item.content
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or_else(|| damaged(item, "its content cannot be read"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

pub fn entry(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<()> {
    let said = content(item)?;
    let entry = Entry {
        branch: text(&said["branch"]),
        doc: text(&said["doc"]),
        seq: item.seq,
        kind: text(&said["kind"]),
        origin: said["origin"].as_i64().unwrap_or(item.seq),
        source: said["source_event_id"].as_str().map(str::to_string),
    };
    renew_claim(tx, core, item, &entry.branch)?;
    // A copy says nothing that its original does not.
    if said["origin"].is_null() {
        let note = Text {
            title: text(&said["title"]),
            body: text(&said["content"]),
            ..Text::default()
        };
        core.texts.put(core.ws, item.seq, sort::NOTE, note, false);
    }
    entries::add(tx, core.ws, &entry)
}

/// Notes about a task are work on it.
fn renew_claim(tx: &mut Tx<'_>, core: &mut Core, item: &Item, branch: &str) -> Result<()> {
    let Some(handle) = branch.strip_prefix("task/") else {
        return Ok(());
    };
    match core.by_handle(tx, handle)? {
        Some(id) if core.node(tx, id)?.is_some() => {
            core.touch_node(tx, id, |node| node::renew(node, item))
        }
        _ => Ok(()),
    }
}

pub fn vertex(core: &mut Core, item: &Item) -> Result<()> {
    let said = content(item)?;
    core.add_vertex(Vertex {
        branch: text(&said["branch"]),
        doc: text(&said["doc"]),
        key: text(&said["key"]),
        seq: item.seq,
        kind: text(&said["kind"]),
        target: said["state"]["to"].as_str().map(str::to_string),
        deleted: said["deleted"] == true,
        giver: said["source"].as_str().and_then(giver),
        data: said["state"].to_string(),
    });
    Ok(())
}

/// The branch that a merged version came from, by its mark: `merge:<branch>:<seq>`.
fn giver(source: &str) -> Option<String> {
    let (branch, _) = source.strip_prefix("merge:")?.rsplit_once(':')?;
    Some(branch.to_string())
}

pub fn branch_made(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    data: &Map<String, Value>,
) -> Result<()> {
    let field = |name: &str| data.get(name).map(text).unwrap_or_default();
    let base = field("base_branch");
    let root = branches::get(tx, core.ws, &base)?.map_or_else(|| base.clone(), |base| base.root);
    let branch = Branch {
        name: field("name"),
        id: item.seq,
        base,
        root,
        base_seq: data
            .get("base_seq")
            .and_then(Value::as_i64)
            .unwrap_or_default(),
    };
    // Versions before it must know nothing of its cutoff.
    core.flush_vertices(tx)?;
    branches::add(tx, core.ws, &branch)
}

pub fn conflict(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    data: &Map<String, Value>,
) -> Result<()> {
    let field = |name: &str| data.get(name).map(text).unwrap_or_default();
    let conflict = Conflict {
        id: item.entity.unwrap_or_default(),
        origin: field("from"),
        into: field("into"),
        doc: field("doc"),
        key: field("vertex"),
        theirs: data
            .get("theirs_seq")
            .and_then(Value::as_i64)
            .unwrap_or_default(),
        open: field("status") == "open",
    };
    conflicts::put(tx, core.ws, &conflict)
}
