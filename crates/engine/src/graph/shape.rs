//! How nodes look in an answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::{Id, Time, Ws};
use understory_storage::ReadTx;
use understory_storage::entities::{self, Entity};
use understory_storage::projects::Project;

use crate::kernel::content::node as fields;
use crate::kernel::content::node::Evidence;
use crate::kernel::core::Thing;
use crate::kernel::project;

/// A node whole.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    pub id: String,
    /// Goes up with every change.
    pub rev: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    pub summary: String,
    pub resolved: bool,
    /// It was closed by dropping it, not by doing it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
    /// Whatever its owner defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// The caller's own, and who claimed it.
    pub properties: Map<String, Value>,
    pub context_links: Vec<String>,
    pub evidence: Vec<Evidence>,
    pub created_at: Time,
    pub updated_at: Time,
    pub created_by: String,
}

impl Node {
    pub fn new(thing: &Thing, parent: Option<&str>) -> Node {
        let (entity, data) = (&thing.entity, &thing.data);
        Node {
            id: entity.handle.clone(),
            rev: entity.version,
            parent: parent.map(str::to_string),
            summary: fields::summary(data).to_string(),
            resolved: fields::resolved(data),
            dropped: fields::dropped(data),
            state: data.get("state").cloned(),
            properties: fields::all_properties(data),
            context_links: fields::context_links(data),
            evidence: fields::pieces(data),
            created_at: entity.created_at,
            updated_at: entity.updated_at,
            created_by: entity.created_by.clone(),
        }
    }
}

/// A node by id, with its parent's handle.
pub fn load(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Node>> {
    let Some(entity) = entities::get(tx, ws, id)? else {
        return Ok(None);
    };
    let parent = match entity.parent {
        Some(parent) => entities::get(tx, ws, parent)?.map(|parent| parent.handle),
        None => None,
    };
    Ok(Some(Node::new(&Thing::open(entity)?, parent.as_deref())))
}

/// What stands above a node, root first.
pub fn ancestors(tx: &mut ReadTx<'_>, ws: Ws, of: &Entity) -> Result<Vec<Thing>> {
    let above = entities::above(tx, ws, of)?;
    above.into_iter().map(Thing::open).collect()
}

/// A project in a list of others.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    /// Its name.
    pub id: String,
    /// Its goal.
    pub summary: String,
    pub total: i64,
    pub resolved: i64,
    pub unresolved: i64,
    pub updated_at: Time,
}

/// Every project with its counts.
pub fn project_list(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Vec<Listed>> {
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
        shown.push(Listed {
            id: project::name_of(&entity.handle).to_string(),
            summary,
            total: home.total,
            resolved: home.resolved,
            unresolved: home.total - home.resolved,
            updated_at: home.updated,
        });
    }
    Ok(shown)
}

/// A project's counts of nodes.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    pub total: i64,
    pub resolved: i64,
    pub unresolved: i64,
    /// They wait for something open.
    pub blocked: i64,
    /// They can be started.
    pub actionable: i64,
}

impl From<&Project> for Counts {
    fn from(project: &Project) -> Counts {
        Counts {
            total: project.total,
            resolved: project.resolved,
            unresolved: project.total - project.resolved,
            blocked: project.blocked,
            actionable: project.actionable,
        }
    }
}
