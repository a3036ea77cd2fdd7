//! A plan as a tree for people: where each node stands, what it waits for, and whose it is.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::Id;
use understory_model::error::Result;
use understory_storage::nodes::{self, Node};
use understory_storage::{entities, links};

use crate::View;
use crate::graph::claim::{self, Expiry, Held};
use crate::graph::why::Reason;
use crate::graph::{find_surviving, project};
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;

/// What of a plan is asked for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Only this node and what is below it.
    pub top: Option<String>,
    /// Levels below the top.
    pub levels: Option<i64>,
    pub most: i64,
}

/// Where a node stands, told apart as people need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Ready,
    Claimed,
    /// Open by what is below it.
    Open,
    /// It depends on something open.
    Blocked,
    Done,
    Dropped,
}

/// A node of the tree; `depth` counts from the top.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    pub id: String,
    pub summary: String,
    pub depth: i64,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Held>,
    /// Nodes directly below it that are not shown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: i64,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// A plan, or a part of it, each node before what is below it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Tree {
    pub nodes: Vec<Row>,
    /// There are more than were asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

impl Tree {
    /// There is no plan.
    fn nothing(project: &str) -> Tree {
        Tree {
            reason: Some(Reason::nothing_planned(project)),
            ..Tree::default()
        }
    }
}

pub fn tree(view: &mut View<'_, '_>, asked: &Asked) -> Result<Tree> {
    let caller = view.caller;
    let top = match &asked.top {
        Some(handle) => Some(find_surviving(view, handle)?.id),
        None => project::to_read(view, caller, None)?.and_then(|home| home.root),
    };
    let node = match top {
        Some(id) => nodes::get(view.tx, view.ws, id)?,
        None => None,
    };
    let Some(top) = node else {
        return Ok(Tree::nothing(&caller.project));
    };
    let deepest = asked.levels.map_or(i64::MAX, |levels| top.depth + levels);
    let mut found = nodes::tree(view.tx, view.ws, &top, deepest, asked.most + 1)?;
    let truncated = found.len() as i64 > asked.most;
    found.truncate(usize::try_from(asked.most).unwrap_or(0));
    Ok(Tree {
        nodes: rows(view, &top, &found)?,
        truncated,
        reason: None,
    })
}

fn rows(view: &mut View<'_, '_>, top: &Node, found: &[Node]) -> Result<Vec<Row>> {
    let ids: Vec<Id> = found.iter().map(|node| node.id).collect();
    let mut hidden = entities::child_counts(view.tx, view.ws, &ids)?;
    let mut rows = Vec::with_capacity(found.len());
    for node in found {
        let Some(entity) = entities::get(view.tx, view.ws, node.id)? else {
            continue;
        };
        if let Some(parent) = entity.parent {
            hidden.entry(parent).and_modify(|left| *left -= 1);
        }
        rows.push((node.id, row(view, top, node, &Thing::open(entity)?)?));
    }
    let left = |id: &Id, hidden: &HashMap<Id, i64>| hidden.get(id).copied().unwrap_or(0);
    Ok(rows
        .into_iter()
        .map(|(id, row)| Row {
            hidden: left(&id, &hidden),
            ..row
        })
        .collect())
}

fn row(view: &mut View<'_, '_>, top: &Node, node: &Node, thing: &Thing) -> Result<Row> {
    let expiry = Expiry::new(&view.rules, view.now);
    let held = match claim::of(node).filter(|one| expiry.counts(one)) {
        Some(claim) if !node.resolved => {
            let handle = &thing.entity.handle;
            Some(claim::held(view.tx, view.ws, handle, &claim, expiry)?)
        }
        _ => None,
    };
    let mut blocked_by = Vec::new();
    if !node.resolved && node.open_deps > 0 {
        for other in links::open_dependencies(view.tx, view.ws, node.id)? {
            blocked_by.extend(view.entity(other)?.map(|entity| entity.handle));
        }
    }
    let priority = thing.data.get("properties");
    let priority = priority.and_then(|all| all.get(fields::PRIORITY));
    Ok(Row {
        id: thing.entity.handle.clone(),
        summary: fields::summary(&thing.data).to_string(),
        depth: node.depth - top.depth,
        status: status(node, thing, held.is_some()),
        state: thing.data.get("state").cloned(),
        priority: priority.cloned(),
        blocked_by,
        claim: held,
        hidden: 0,
    })
}

fn status(node: &Node, thing: &Thing, claimed: bool) -> Status {
    match (node.resolved, node.open_deps > 0, node.open_children > 0) {
        (true, _, _) if fields::dropped(&thing.data) => Status::Dropped,
        (true, _, _) => Status::Done,
        (_, true, _) => Status::Blocked,
        (_, _, true) => Status::Open,
        _ if claimed => Status::Claimed,
        _ => Status::Ready,
    }
}
