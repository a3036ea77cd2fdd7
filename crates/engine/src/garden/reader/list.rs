//! `reader_proposals`: what waits for somebody's decision, the newest first.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Id};
use understory_storage::entities;

use super::propose::shape;
use crate::core::Thing;
use crate::garden::artifact;
use crate::garden::timeline::paged;
use crate::names::Scope;
use crate::projection::PROPOSAL;
use crate::threads::text;
use crate::{View, project};

const LIST: &str = "proposals";
/// Proposals read at once.
const CHUNK: i64 = 200;

/// Where a proposal stands, or any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Open,
    Accepted,
    Rejected,
    Any,
}

impl Status {
    fn takes(self, status: &str) -> bool {
        match self {
            Status::Open => status == "open",
            Status::Accepted => status == "accepted",
            Status::Rejected => status == "rejected",
            Status::Any => true,
        }
    }
}

/// Which proposals.
#[derive(Debug, Clone)]
pub struct Asked {
    pub project: Option<String>,
    pub artifact: Option<String>,
    pub status: Status,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// The answer before the workspace's first write.
pub fn nothing() -> Value {
    json!({ "proposals": [] })
}

pub fn proposals(
    view: &mut View<'_, '_>,
    caller: &Caller,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let mut before = match &asked.cursor {
        Some(cursor) => Cursor::decode(cursor, LIST)?.int(0)?,
        None => Id::MAX,
    };
    let Some(home) = project::to_read(view, caller, asked.project.as_deref())? else {
        return Ok(nothing());
    };
    let scope = Scope {
        ws: view.ws,
        project: Some(home.id),
        caller: view.caller,
    };
    let artifact = match &asked.artifact {
        Some(name) => Some(artifact::find(view.tx, scope, name)?.name),
        None => None,
    };
    let most = usize::try_from(asked.limit).unwrap_or(0) + 1;
    let mut found: Vec<Thing> = Vec::new();
    while found.len() < most {
        let batch = entities::of_kind(view.tx, view.ws, PROPOSAL, before, CHUNK)?;
        let Some(last) = batch.last() else { break };
        before = last.id;
        for entity in batch.into_iter().filter(|one| one.project == Some(home.id)) {
            let thing = Thing::open(entity)?;
            let of = artifact
                .as_deref()
                .is_none_or(|name| name == text(&thing.data, "artifact"));
            if of && asked.status.takes(text(&thing.data, "status")) {
                found.push(thing);
            }
        }
    }
    let more = found.len() >= most;
    found.truncate(most - 1);
    let cursor = |thing: &Thing| Cursor::new(LIST, vec![Key::Int(thing.entity.id)]).encode();
    let cursors: Vec<String> = found.iter().map(cursor).collect();
    let shown = found
        .iter()
        .map(|thing| shape(view.tx, view.ws, thing))
        .collect::<Result<Vec<Value>>>()?;
    let answer = json!({ "proposals": shown });
    Ok(paged(answer, "proposals", (&cursors, more), budget))
}
