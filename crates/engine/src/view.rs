//! A read under way: one snapshot of one workspace.

use understory_model::error::{Fault, Result};
use understory_model::nearest::nearest;
use understory_model::{Id, Time, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{Tx, nodes};

use crate::projection::NODE;

/// One snapshot of one workspace.
pub struct View<'v, 'c> {
    pub tx: &'v mut Tx<'c>,
    pub ws: Ws,
    /// The workspace's real name, which a clash of names may have changed.
    pub name: &'v str,
    pub now: Time,
    pub claim_ttl: i64,
}

impl View<'_, '_> {
    pub fn entity(&mut self, id: Id) -> Result<Option<Entity>> {
        entities::get(self.tx, self.ws, id)
    }
}

/// Nothing bears this handle: says so, with the nearest that exist.
pub fn no_such(tx: &mut Tx<'_>, ws: Ws, what: &str, handle: &str) -> Result<Fault> {
    // Only a kind that is a word of the store narrows; "thing named" means any.
    let kind = Some(what).filter(|what| *what == NODE);
    let near = entities::handles_near(tx, ws, kind, handle, 20)?;
    Ok(missing(what, handle, near.iter().map(String::as_str)))
}

/// The fault for a name that does not exist, suggesting those that do.
pub fn missing<'n>(what: &str, handle: &str, names: impl IntoIterator<Item = &'n str>) -> Fault {
    let shown: String = handle.chars().take(80).collect();
    let fault = Fault::not_found(format!("no {what} {shown}"));
    let near = nearest(handle, names, 3);
    if near.is_empty() {
        fault.hint("Check the id; graph_query and graph_open list what exists.")
    } else {
        let details = serde_json::json!({ "nearest": near });
        fault
            .hint(format!("Did you mean {}?", near.join(" or ")))
            .details(details)
    }
}

/// The ids of all projects with their entities, oldest first.
pub fn projects(tx: &mut Tx<'_>, ws: Ws) -> Result<Vec<(nodes::Project, Entity)>> {
    let mut found = Vec::new();
    for project in nodes::projects(tx, ws)? {
        if let Some(entity) = entities::get(tx, ws, project.id)? {
            found.push((project, entity));
        }
    }
    Ok(found)
}
