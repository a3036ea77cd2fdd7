//! `graph_next`: the best node to work on now, claimed in the same step when asked.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use understory_model::error::Result;
use understory_model::link::DEPENDS_ON;
use understory_model::{Caller, Id, Ws};
use understory_storage::keys::Pair;
use understory_storage::nodes::{self, Ready};
use understory_storage::{Tx, entities, links};

use crate::core::Thing;
use crate::graph::fields::{self, CLAIMED_AT, CLAIMED_BY};
use crate::graph::{find, find_to_change, project, shape};
use crate::work::Edit;
use crate::{View, Work};

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub project: Option<String>,
    pub scope: Option<String>,
    pub filter: Map<String, Value>,
    pub count: i64,
}

impl Wanted {
    fn keys(&self) -> Vec<Pair> {
        self.filter.iter().map(|(name, value)| fields::property_pair(name, value)).collect()
    }
}

/// What is next, without touching it.
pub fn look(view: Option<&mut View<'_, '_>>, caller: &Caller, wanted: &Wanted) -> Result<Value> {
    let Some(view) = view else {
        project::nothing_yet(caller, wanted.project.as_deref())?;
        return Ok(json!({ "nodes": [] }));
    };
    let Some(home) = project::to_read(view, caller, wanted.project.as_deref())? else {
        return Ok(json!({ "nodes": [] }));
    };
    let scope = match &wanted.scope {
        Some(scope) => {
            let id = find(view, scope)?.id;
            nodes::get(view.tx, view.ws, id)?.map(|node| node.path)
        }
        None => None,
    };
    let keys = wanted.keys();
    let ready = Ready {
        project: home.id,
        scope: scope.as_deref(),
        keys: &keys,
        agent: &caller.agent,
        stale: view.now.minus(view.claim_ttl),
        most: wanted.count,
    };
    let ids = nodes::ready(view.tx, view.ws, &ready)?;
    shown(view.tx, view.ws, &ids)
}

/// What is next, made the caller's own: nobody else is told the same until the claim goes stale.
pub fn claim(work: &mut Work<'_, '_>, wanted: &Wanted) -> Result<Value> {
    let name = wanted.project.as_deref();
    let known = name.unwrap_or(&work.caller.project).to_string();
    project::check_name(&known)?;
    if work.core.by_handle(work.tx, &project::handle(&known))?.is_none()
        && known == work.caller.project
    {
        return Ok(json!({ "nodes": [] }));
    }
    let home = project::to_write(work, name, false)?.project;
    let scope = match &wanted.scope {
        Some(scope) => {
            let id = find_to_change(work, scope)?;
            work.core.node(work.tx, id)?.map(|node| node.path.clone())
        }
        None => None,
    };
    let (keys, ws) = (wanted.keys(), work.ws());
    let ready = Ready {
        project: home,
        scope: scope.as_deref(),
        keys: &keys,
        agent: &work.caller.agent,
        stale: work.now.minus(work.claim_ttl),
        most: wanted.count,
    };
    let ids = nodes::ready(work.tx, ws, &ready)?;
    for id in &ids {
        claim_one(work, *id)?;
    }
    work.flush()?;
    shown(work.tx, ws, &ids)
}

fn claim_one(work: &mut Work<'_, '_>, id: Id) -> Result<()> {
    let mut data = work.thing(id)?.data.clone();
    let properties = data.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(CLAIMED_BY.into(), work.caller.agent.clone().into());
        properties.insert(CLAIMED_AT.into(), work.now.to_string().into());
    }
    work.change(id, Edit { action: "claimed", data: Some(data), ..Edit::default() })?;
    Ok(())
}

/// Each node with what one needs to start on it.
fn shown(tx: &mut Tx<'_>, ws: Ws, ids: &[Id]) -> Result<Value> {
    let mut above: HashMap<Id, Vec<Thing>> = HashMap::new();
    let mut list = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(entity) = entities::get(tx, ws, *id)? else { continue };
        let parent = entity.parent;
        let thing = Thing::open(entity)?;
        // Siblings share their ancestors; ask once for all of them.
        if let Some(parent) = parent
            && !above.contains_key(&parent)
        {
            above.insert(parent, shape::ancestors(tx, ws, *id)?);
        }
        let ancestors = parent.and_then(|parent| above.get(&parent)).map_or(&[][..], Vec::as_slice);
        let resolved_deps = resolved_deps(tx, ws, *id)?;
        list.push(one(&thing, ancestors, resolved_deps));
    }
    Ok(json!({ "nodes": list }))
}

fn one(thing: &Thing, ancestors: &[Thing], resolved_deps: Vec<Value>) -> Value {
    let links = |data: &Map<String, Value>| data.get("context_links").cloned().unwrap_or(json!([]));
    let inherited: Vec<Value> = ancestors
        .iter()
        .filter(|above| links(&above.data).as_array().is_some_and(|links| !links.is_empty()))
        .map(|above| json!({ "node_id": above.entity.handle, "links": links(&above.data) }))
        .collect();
    let chain: Vec<Value> = ancestors
        .iter()
        .map(|above| json!({ "id": above.entity.handle, "summary": fields::summary(&above.data) }))
        .collect();
    json!({
        "node": shape::node(thing, ancestors.last().map(|parent| parent.entity.handle.as_str())),
        "ancestors": chain,
        "context_links": { "self": links(&thing.data), "inherited": inherited },
        "resolved_deps": resolved_deps,
    })
}

/// What was done that this waited for, with the evidence of it.
fn resolved_deps(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Vec<Value>> {
    let mut done = Vec::new();
    for target in links::targets(tx, ws, id, DEPENDS_ON)? {
        if let Some(entity) = entities::get(tx, ws, target)? {
            let thing = Thing::open(entity)?;
            done.push(json!({
                "id": thing.entity.handle,
                "summary": fields::summary(&thing.data),
                "evidence": thing.data.get("evidence").cloned().unwrap_or(json!([])),
            }));
        }
    }
    Ok(done)
}
