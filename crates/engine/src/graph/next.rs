//! `graph_next`: the best node to work on now, claimed in the same step when asked.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use understory_model::budget::{Budget, Drop, fit_list};
use understory_model::error::Result;
use understory_model::link::DEPENDS_ON;
use understory_model::{Caller, Id, Time, Ws};
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
    pub budget: Budget,
}

impl Wanted {
    fn keys(&self) -> Vec<Pair> {
        self.filter
            .iter()
            .map(|(name, value)| fields::property_pair(name, value))
            .collect()
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
        stale: view.now.minus(view.rules.claim_ttl),
        most: wanted.count,
    };
    let ids = nodes::ready(view.tx, view.ws, &ready)?;
    let list = shown(view.tx, view.ws, &ids, None)?;
    Ok(fitted(list, &wanted.budget))
}

/// What is next, made the caller's own: nobody else is told the same until the claim goes stale.
pub fn claim(work: &mut Work<'_, '_>, wanted: &Wanted) -> Result<Value> {
    let name = wanted.project.as_deref();
    let known = name.unwrap_or(&work.caller.project).to_string();
    project::check_name(&known)?;
    if work
        .core
        .by_handle(work.tx, &project::handle(&known))?
        .is_none()
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
        stale: work.now.minus(work.rules.claim_ttl),
        most: wanted.count,
    };
    let ids = nodes::ready(work.tx, ws, &ready)?;
    let claimed = (work.caller.agent.as_str(), work.now);
    let list = shown(work.tx, ws, &ids, Some(claimed))?;
    let answer = fitted(list, &wanted.budget);
    // What the budget leaves no room to tell is not taken from others either.
    let told = answer["nodes"].as_array().map_or(0, Vec::len);
    for id in ids.iter().take(told) {
        claim_one(work, *id)?;
    }
    Ok(answer)
}

fn set_claim(data: &mut Map<String, Value>, agent: &str, at: Time) {
    let properties = data.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(CLAIMED_BY.into(), agent.into());
        properties.insert(CLAIMED_AT.into(), at.to_string().into());
    }
}

fn claim_one(work: &mut Work<'_, '_>, id: Id) -> Result<()> {
    let mut data = work.thing(id)?.data.clone();
    set_claim(&mut data, &work.caller.agent, work.now);
    work.change(
        id,
        Edit {
            action: "claimed",
            data: Some(data),
            ..Edit::default()
        },
    )?;
    Ok(())
}

/// The answer with as many of the best as the budget holds. A first one that is too long by itself
/// loses what is least needed to start on it: hidden, it would stand in the way for ever.
fn fitted(list: Vec<Value>, budget: &Budget) -> Value {
    let best = list.first().cloned();
    let answer = fit_list(json!({ "nodes": list }), "nodes", budget, Drop::Last);
    match best {
        Some(best) if answer["nodes"] == json!([]) => lean(best, budget).unwrap_or(answer),
        _ => answer,
    }
}

fn lean(mut best: Value, budget: &Budget) -> Option<Value> {
    for step in 0..4 {
        match step {
            0 => {
                for dep in best["resolved_deps"].as_array_mut().into_iter().flatten() {
                    dep["evidence"] = json!([]);
                }
            }
            1 => best["resolved_deps"] = json!([]),
            2 => {
                best["node"]["evidence"] = json!([]);
                best["context_links"] = json!({ "self": [], "inherited": [] });
            }
            _ => {
                let node = &best["node"];
                let name = json!({ "id": node["id"], "rev": node["rev"], "resolved": false });
                best = json!({ "node": name });
            }
        }
        let answer = json!({ "nodes": [best], "truncated": true });
        if budget.holds(&answer) {
            return Some(answer);
        }
    }
    None
}

/// Each node with what one needs to start on it, as it is or as this claim will leave it.
fn shown(tx: &mut Tx<'_>, ws: Ws, ids: &[Id], claimed: Option<(&str, Time)>) -> Result<Vec<Value>> {
    let mut above: HashMap<Id, Vec<Thing>> = HashMap::new();
    let mut list = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(entity) = entities::get(tx, ws, *id)? else {
            continue;
        };
        let parent = entity.parent;
        let mut thing = Thing::open(entity)?;
        if let Some((agent, at)) = claimed {
            set_claim(&mut thing.data, agent, at);
            thing.entity.version += 1;
            thing.entity.updated_at = at;
        }
        // Siblings share their ancestors; ask once for all of them.
        if let Some(parent) = parent
            && !above.contains_key(&parent)
        {
            above.insert(parent, shape::ancestors(tx, ws, &thing.entity)?);
        }
        let ancestors = parent
            .and_then(|parent| above.get(&parent))
            .map_or(&[][..], Vec::as_slice);
        let resolved_deps = resolved_deps(tx, ws, *id)?;
        list.push(one(&thing, ancestors, resolved_deps));
    }
    Ok(list)
}

fn one(thing: &Thing, ancestors: &[Thing], resolved_deps: Vec<Value>) -> Value {
    let links = |data: &Map<String, Value>| data.get("context_links").cloned().unwrap_or(json!([]));
    let inherited: Vec<Value> = ancestors
        .iter()
        .filter(|above| {
            links(&above.data)
                .as_array()
                .is_some_and(|links| !links.is_empty())
        })
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
