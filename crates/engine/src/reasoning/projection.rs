//! Branches, entries of documents, versions of graph nodes and edges, and conflicts of merges.

use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::fact::{GraphDelta, NoteEntry};
use understory_model::item::Item;
use understory_model::{Id, Seq};
use understory_storage::Tx;
use understory_storage::branches::{self, Branch};
use understory_storage::conflicts::{self, Conflict};
use understory_storage::entries::{self, Entry};
use understory_storage::texts::Text;
use understory_storage::vertices::{NODE, Vertex};

use crate::kernel::content::node::renew;
use crate::kernel::core::Core;
use crate::kernel::mentions::{self, Source, Text as Said};
use crate::kernel::project::project_of_branch;
use crate::kernel::search::sort;
use crate::reasoning::copies::is_card;

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

pub fn entry(tx: &mut Tx<'_>, core: &mut Core, item: &Item, said: &NoteEntry) -> Result<()> {
    renew_claim(tx, core, item, &said.branch)?;
    // A copy says nothing that its original does not.
    if said.origin.is_none() {
        let title = said.title.as_deref().unwrap_or_default();
        let note = Text {
            title: title.to_string(),
            body: said.content.clone(),
            ..Text::default()
        };
        core.texts
            .put(core.ws, Id::of(item.seq), sort::NOTE, note, false);
        // Of a card its node says it.
        if !said.source_event_id.as_deref().is_some_and(is_card) {
            let texts = [
                Said::new("title", title),
                Said::new("content", &said.content),
            ];
            mentioned(tx, core, item, &said.branch, &texts)?;
        }
    }
    let entry = Entry {
        branch: said.branch.clone(),
        doc: said.doc.clone(),
        seq: item.seq,
        kind: said.kind.clone(),
        origin: said.origin.unwrap_or(item.seq),
        source: said.source_event_id.clone(),
    };
    entries::add(tx, core.ws, &entry)
}

/// Notes about a task are work on it.
fn renew_claim(tx: &mut Tx<'_>, core: &mut Core, item: &Item, branch: &str) -> Result<()> {
    let Some(handle) = branch.strip_prefix("task/") else {
        return Ok(());
    };
    match core.by_handle(tx, handle)? {
        Some(id) if core.node(tx, id)?.is_some() => {
            core.touch_node(tx, id, |node| renew(node, item))
        }
        _ => Ok(()),
    }
}

/// What some texts of a note or a card on a branch mention.
fn mentioned(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    branch: &str,
    texts: &[Said<'_>],
) -> Result<()> {
    if !mentions::any(texts) {
        return Ok(());
    }
    let project = project_of_branch(tx, core, branch)?;
    mentions::said(tx, core, item, Source::item(item, project), texts)
}

pub fn vertex(tx: &mut Tx<'_>, core: &mut Core, item: &Item, said: &GraphDelta) -> Result<()> {
    let giver = said.source.as_deref().and_then(giver);
    // A merged version says nothing that its original does not.
    if said.kind == NODE && !said.deleted && giver.is_none() {
        let text = |field: &str| text_of(&said.state, field).unwrap_or_default();
        let texts = [
            Said::new("title", text("title")),
            Said::new("text", text("text")),
        ];
        mentioned(tx, core, item, &said.branch, &texts)?;
    }
    core.add_vertex(Vertex {
        branch: said.branch.clone(),
        doc: said.doc.clone(),
        key: said.key.clone(),
        seq: item.seq,
        kind: said.kind.clone(),
        target: text_of(&said.state, "to").map(str::to_string),
        deleted: said.deleted,
        giver,
        data: Value::from(said.state.clone()).to_string(),
    });
    Ok(())
}

fn text_of<'s>(state: &'s Map<String, Value>, field: &str) -> Option<&'s str> {
    state.get(field).and_then(Value::as_str)
}

/// A place in the log that a field holds.
fn place_of(data: &Map<String, Value>, field: &str) -> Seq {
    Seq(data.get(field).and_then(Value::as_i64).unwrap_or_default())
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
        id: Id::of(item.seq),
        base,
        root,
        base_seq: place_of(data, "base_seq"),
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
        theirs: place_of(data, "theirs_seq"),
        open: field("status") == "open",
    };
    conflicts::put(tx, core.ws, &conflict)
}
