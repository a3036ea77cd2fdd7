//! `garden_stack`: every conversation of a project in the order of its making, the tree that they
//! are, and who stands where.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use understory_model::budget::{Budget, fit_rows};
use understory_model::error::Result;
use understory_model::page::{Cursor, Key};
use understory_model::text::cut;
use understory_model::{Caller, Id, limits};
use understory_storage::{items, logs as rows};

use super::frame;
use super::shape::{PREVIEW, log_name};
use crate::core::Thing;
use crate::{View, project};

/// The name of this list in its cursors.
const LIST: &str = "stack";
/// Levels that the tree nests; what is deeper stands beside, with its parent's name. JSON readers
/// give up on what is nested without end.
const NESTED: usize = 24;

#[derive(Debug, Clone)]
pub struct Asked {
    pub project: Option<String>,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// The answer before the workspace's first write.
pub fn nothing_yet(caller: &Caller, asked: &Asked) -> Result<Value> {
    project::nothing_yet(caller, asked.project.as_deref())?;
    Ok(json!({ "stack": [], "tree": [], "frames": {} }))
}

/// A conversation of the page.
struct Leaf {
    id: Id,
    parent: Option<Id>,
    shown: Value,
}

pub fn stack(
    view: &mut View<'_, '_>,
    caller: &Caller,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let after = match &asked.cursor {
        Some(cursor) => Cursor::decode(cursor, LIST)?.int(0)?,
        None => 0,
    };
    let Some(project) = project::to_read(view, caller, asked.project.as_deref())? else {
        return nothing_yet(caller, asked);
    };
    let mut logs = rows::of_project(view.tx, view.ws, project.id, after, asked.limit + 1)?;
    let more = logs.len() as i64 > asked.limit;
    logs.truncate(usize::try_from(asked.limit).unwrap_or(0));
    let mut leaves = Vec::with_capacity(logs.len());
    let ids: Vec<Id> = logs.iter().map(|entity| entity.id).collect();
    let names = items::uuids(view.tx, view.ws, &ids)?;
    for entity in logs {
        let name = names.get(&entity.id).map(log_name);
        let thing = Thing::open(entity)?;
        leaves.push(leaf(&thing, name.unwrap_or_default()));
    }
    let frames = frames(view, project.id)?;
    let rows: Vec<Value> = leaves.iter().map(|leaf| leaf.shown.clone()).collect();
    Ok(fit_rows(&rows, budget, |kept| {
        let page = &leaves[..kept.len()];
        let names: Vec<&Value> = kept.iter().map(|row| &row["uuid"]).collect();
        let mut answer = json!({ "stack": names, "tree": tree(page, kept), "frames": frames });
        let last = page.last().filter(|_| more || kept.len() < leaves.len());
        let next = last.map(|last| Cursor::new(LIST, vec![Key::Int(last.id)]).encode());
        answer["pagination"] = json!({ "next_cursor": next });
        answer
    }))
}

fn leaf(thing: &Thing, name: String) -> Leaf {
    let summary = thing.data.get("summary").filter(|told| !told.is_null());
    let parent = thing.data.get("parent_uuid").cloned();
    let mut shown = json!({
        "uuid": name,
        "parent_uuid": parent.unwrap_or(Value::Null),
        "state": if summary.is_some() { "collapsed" } else { "active" },
        "created_by": thing.entity.created_by,
    });
    if let Some(title) = thing.data.get("title").filter(|title| title.is_string()) {
        shown["title"] = title.clone();
    }
    if let Some(told) = summary {
        let text = told["content"].as_str().unwrap_or_default();
        shown["summary"] = cut(text, PREVIEW).into();
    }
    Leaf {
        id: thing.entity.id,
        parent: thing.entity.parent,
        shown,
    }
}

/// The conversations nested by their parents, as far as these are of the same page.
fn tree(page: &[Leaf], rows: &[Value]) -> Vec<Value> {
    let mut levels: HashMap<Id, usize> = HashMap::new();
    let mut below: HashMap<Id, Vec<Value>> = HashMap::new();
    let mut tops = HashSet::new();
    for leaf in page {
        let level = leaf.parent.and_then(|parent| levels.get(&parent).copied());
        let level = level.map_or(0, |level| level + 1) % NESTED;
        if level == 0 {
            tops.insert(leaf.id);
        }
        levels.insert(leaf.id, level);
    }
    // Children come after their parents, so that from the end each finds its own complete.
    let mut roots = Vec::new();
    for (leaf, row) in page.iter().zip(rows).rev() {
        let mut shown = row.clone();
        let mut children = below.remove(&leaf.id).unwrap_or_default();
        children.reverse();
        shown["children"] = children.into();
        match leaf.parent.filter(|_| !tops.contains(&leaf.id)) {
            Some(parent) => below.entry(parent).or_default().push(shown),
            None => roots.push(shown),
        }
    }
    roots.reverse();
    roots
}

/// Where everybody stands, by name.
fn frames(view: &mut View<'_, '_>, project: Id) -> Result<Map<String, Value>> {
    let mut shown = Map::new();
    for one in rows::frames(view.tx, view.ws, project, limits::PAGE)? {
        let mut frame = frame::shape(view.tx, view.ws, &one)?;
        if let Some(fields) = frame.as_object_mut() {
            fields.remove("participant");
        }
        shown.insert(one.participant, frame);
    }
    Ok(shown)
}
