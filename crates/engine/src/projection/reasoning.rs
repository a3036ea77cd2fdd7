//! Branches, entries of documents, versions of graph nodes and edges, and conflicts of merges.

use serde_json::{Map, Value};
use understory_model::Id;
use understory_model::error::Result;
use understory_model::item::Item;
use understory_storage::Tx;
use understory_storage::branches::{self, Branch};
use understory_storage::conflicts::{self, Conflict};
use understory_storage::entries::{self, Entry};
use understory_storage::texts::Text;
use understory_storage::vertices::{NODE, Vertex};

use super::mentions::{self, Source, Text as Said};
use super::{damaged, node};
use crate::core::Core;
use crate::project;
use crate::reasoning::copies::is_card;
use crate::reasoning::place::node_of_branch;
use crate::search::sort;

/// The project of whoever names none.
const DEFAULT_PROJECT: &str = "default";

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
        // Of a card its node says it.
        if !entry.source.as_deref().is_some_and(is_card) {
            mentioned(tx, core, item, &said, ["title", "content"])?;
        }
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

/// What some texts of a note or a card mention.
fn mentioned(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    said: &Value,
    fields: [&'static str; 2],
) -> Result<()> {
    let texts = fields.map(|field| Said::new(field, said[field].as_str().unwrap_or_default()));
    if !mentions::any(&texts) {
        return Ok(());
    }
    let project = project_of(tx, core, item)?;
    mentions::said(tx, core, item, Source::item(item, project), &texts)
}

/// The project that a note or a card is about: that of the task or plan whose branch its own
/// descends from, else the default project. Their items name none.
pub fn project_of(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<Option<Id>> {
    let branch = text(&content(item)?["branch"]);
    let root = branches::get(tx, core.ws, &branch)?.map_or(branch, |branch| branch.root);
    if let Some(handle) = node_of_branch(&root)
        && let Some(id) = core.by_handle(tx, handle)?
    {
        return Ok(core.thing(tx, id)?.and_then(|thing| thing.entity.project));
    }
    core.by_handle(tx, &project::handle(DEFAULT_PROJECT))
}

pub fn vertex(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<()> {
    let said = content(item)?;
    // A merged version says nothing that its original does not.
    let merged = said["source"].as_str().and_then(giver).is_some();
    if said["kind"] == NODE && said["deleted"] != true && !merged {
        mentioned(tx, core, item, &said["state"], ["title", "text"])?;
    }
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
