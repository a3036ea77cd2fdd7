//! How nodes look in an answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use understory_model::error::Result;
use understory_model::{Id, Ws};
use understory_storage::Tx;
use understory_storage::entities::{self, Entity};
use understory_storage::projects::Project;

use crate::core::Thing;
use crate::graph::fields;
use crate::project;

/// A node whole.
pub fn node(thing: &Thing, parent: Option<&str>) -> Value {
    let entity = &thing.entity;
    let mut shown = Map::new();
    let field = |name: &str, empty: Value| thing.data.get(name).cloned().unwrap_or(empty);
    shown.insert("id".into(), entity.handle.clone().into());
    shown.insert("rev".into(), entity.version.into());
    if let Some(parent) = parent {
        shown.insert("parent".into(), parent.into());
    }
    shown.insert("summary".into(), fields::summary(&thing.data).into());
    shown.insert("resolved".into(), fields::resolved(&thing.data).into());
    if fields::dropped(&thing.data) {
        shown.insert(fields::DROPPED.into(), true.into());
    }
    if let Some(state) = thing.data.get("state") {
        shown.insert("state".into(), state.clone());
    }
    shown.insert("properties".into(), field("properties", json!({})));
    shown.insert("context_links".into(), field("context_links", json!([])));
    shown.insert("evidence".into(), field("evidence", json!([])));
    shown.insert("created_at".into(), entity.created_at.to_string().into());
    shown.insert("updated_at".into(), entity.updated_at.to_string().into());
    shown.insert("created_by".into(), entity.created_by.clone().into());
    Value::Object(shown)
}

/// A node by id, with its parent's handle.
pub fn load(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Value>> {
    match entities::get(tx, ws, id)? {
        Some(entity) => whole(tx, ws, entity).map(Some),
        None => Ok(None),
    }
}

/// An entity as a node, with its parent's handle.
pub fn whole(tx: &mut Tx<'_>, ws: Ws, entity: Entity) -> Result<Value> {
    let parent = match entity.parent {
        Some(parent) => entities::get(tx, ws, parent)?.map(|parent| parent.handle),
        None => None,
    };
    Ok(node(&Thing::open(entity)?, parent.as_deref()))
}

/// A node as others see it: what it says and what was done, without its place, who made it and when.
/// Two neighbours whole would cost more than the node that was asked for.
pub fn neighbour(entity: Entity) -> Result<Value> {
    let mut shown = node(&Thing::open(entity)?, None);
    if let Some(fields) = shown.as_object_mut() {
        fields
            .retain(|name, _| !matches!(name.as_str(), "created_at" | "updated_at" | "created_by"));
    }
    Ok(shown)
}

/// What stands above a node, root first.
pub fn ancestors(tx: &mut Tx<'_>, ws: Ws, of: &Entity) -> Result<Vec<Thing>> {
    let above = entities::above(tx, ws, of)?;
    above.into_iter().map(Thing::open).collect()
}

/// A node in a list of others.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Brief {
    pub id: String,
    pub summary: String,
}

/// Nodes in brief, in the given order.
pub fn briefs(tx: &mut Tx<'_>, ws: Ws, ids: &[Id]) -> Result<Vec<Brief>> {
    let mut shown = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(entity) = entities::get(tx, ws, *id)? {
            let thing = Thing::open(entity)?;
            let summary = fields::summary(&thing.data).to_string();
            let id = thing.entity.handle;
            shown.push(Brief { id, summary });
        }
    }
    Ok(shown)
}

/// `{id, summary}` of nodes, in the given order.
pub fn brief(tx: &mut Tx<'_>, ws: Ws, ids: &[Id]) -> Result<Vec<Value>> {
    let mut shown = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(entity) = entities::get(tx, ws, *id)? {
            let thing = Thing::open(entity)?;
            let summary = fields::summary(&thing.data);
            shown.push(json!({ "id": thing.entity.handle, "summary": summary }));
        }
    }
    Ok(shown)
}

/// Every project with its counts.
pub fn project_list(tx: &mut Tx<'_>, ws: Ws) -> Result<Vec<Value>> {
    let mut shown = Vec::new();
    for (home, entity) in project::all(tx, ws)? {
        let root = home
            .root
            .map(|root| entities::get(tx, ws, root))
            .transpose()?
            .flatten();
        let summary = match root {
            Some(root) => fields::summary(&Thing::open(root)?.data).to_string(),
            None => String::new(),
        };
        shown.push(json!({
            "id": project::name_of(&entity.handle),
            "summary": summary,
            "total": home.total,
            "resolved": home.resolved,
            "unresolved": home.total - home.resolved,
            "updated_at": home.updated.to_string(),
        }));
    }
    Ok(shown)
}

/// A project's counts.
pub fn counts(project: &Project) -> Value {
    json!({
        "total": project.total,
        "resolved": project.resolved,
        "unresolved": project.total - project.resolved,
        "blocked": project.blocked,
        "actionable": project.actionable,
    })
}
