//! `graph_next`: the best node to work on now, claimed in the same step when asked.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use understory_model::budget::{Budget, Drop, fit_list};
use understory_model::error::Result;
use understory_model::link::DEPENDS_ON;
use understory_model::{Caller, Id, Time, Ws};
use understory_storage::keys::Pair;
use understory_storage::nodes::{self, Node, Standing};
use understory_storage::projects::Project;
use understory_storage::ready::{self, Ready};
use understory_storage::{Tx, entities, links};

use crate::core::Thing;
use crate::graph::why::{self, Place, Reason};
use crate::graph::{claim as claims, fields, find, find_to_change, project, shape};
use crate::work::Edit;
use crate::{Rules, View, Work};

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub project: Option<String>,
    /// This one and no other.
    pub node: Option<String>,
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

/// Who asks, and when: what decides whose a node is.
#[derive(Clone, Copy)]
struct Asker<'a> {
    agent: &'a str,
    session: &'a str,
    rules: &'a Rules,
    now: Time,
}

/// What is next, without touching it.
pub fn look(view: Option<&mut View<'_, '_>>, caller: &Caller, wanted: &Wanted) -> Result<Value> {
    let name = wanted.project.as_deref().unwrap_or(&caller.project);
    let Some(view) = view else {
        project::nothing_yet(caller, wanted.project.as_deref())?;
        return Ok(nothing(&Reason::nothing_planned(name), &wanted.budget));
    };
    let (rules, now) = (view.rules, view.now);
    let asker = Asker {
        agent: &caller.agent,
        session: &caller.session,
        rules: &rules,
        now,
    };
    let found = match &wanted.node {
        Some(handle) => {
            let id = find(view, handle)?.id;
            named(view.tx, view.ws, id, handle, asker)?
        }
        None => {
            let Some(home) = project::to_read(view, caller, wanted.project.as_deref())? else {
                return Ok(nothing(&Reason::nothing_planned(name), &wanted.budget));
            };
            let scope = match &wanted.scope {
                Some(scope) => Some(find(view, scope)?.id),
                None => None,
            };
            let place = Place {
                project: name,
                scope: wanted.scope.as_deref().zip(scope),
            };
            best(view.tx, view.ws, &home, wanted, (place, asker))?
        }
    };
    match found {
        Ok(ids) => {
            let list = shown(view.tx, view.ws, &ids, None)?;
            Ok(fitted(list, &wanted.budget))
        }
        Err(reason) => Ok(nothing(&reason, &wanted.budget)),
    }
}

/// What is next, made the caller's own: nobody else is told the same until the claim goes stale.
pub fn claim(work: &mut Work<'_, '_>, wanted: &Wanted) -> Result<Value> {
    let name = wanted.project.as_deref().unwrap_or(&work.caller.project);
    let name = name.to_string();
    let (rules, now, session) = (work.rules, work.now, work.session.clone());
    let asker = Asker {
        agent: &work.caller.agent,
        session: &session,
        rules: &rules,
        now,
    };
    let found = match &wanted.node {
        Some(handle) => {
            let id = find_to_change(work, handle)?;
            let open = work.core.node(work.tx, id)?;
            if open.is_some_and(|node| node.standing == Standing::Ready) {
                claims::check_take(work, id)?;
            }
            let ws = work.ws();
            named(work.tx, ws, id, handle, asker)?
        }
        None => {
            let Some(home) = there(work, wanted.project.as_deref())? else {
                return Ok(nothing(&Reason::nothing_planned(&name), &wanted.budget));
            };
            let scope = match &wanted.scope {
                Some(scope) => Some(find_to_change(work, scope)?),
                None => None,
            };
            let place = Place {
                project: &name,
                scope: wanted.scope.as_deref().zip(scope),
            };
            let ws = work.ws();
            best(work.tx, ws, &home, wanted, (place, asker))?
        }
    };
    let ids = match found {
        Ok(ids) => ids,
        Err(reason) => return Ok(nothing(&reason, &wanted.budget)),
    };
    let ws = work.ws();
    let list = shown(work.tx, ws, &ids, Some(asker))?;
    let answer = fitted(list, &wanted.budget);
    // What the budget leaves no room to tell is not taken from others either.
    let told = answer["nodes"].as_array().map_or(0, Vec::len);
    for id in ids.iter().take(told) {
        claim_one(work, *id)?;
    }
    Ok(answer)
}

/// The project to claim in. A claim makes neither a project nor its root: that is no work yet.
fn there(work: &mut Work<'_, '_>, named: Option<&str>) -> Result<Option<Project>> {
    project::check_known(work, named)?;
    let name = named.unwrap_or(&work.caller.project);
    project::check_name(name)?;
    match work.core.by_handle(work.tx, &project::handle(name))? {
        Some(id) => Ok(work.core.project(work.tx, id)?.cloned()),
        None => Ok(None),
    }
}

/// The best of a project, or why there is none.
fn best(
    tx: &mut Tx<'_>,
    ws: Ws,
    home: &Project,
    wanted: &Wanted,
    (place, asker): (Place<'_>, Asker<'_>),
) -> Result<std::result::Result<Vec<Id>, Reason>> {
    let when = (asker.rules, asker.now);
    let scope = match place.scope {
        Some((_, id)) => nodes::get(tx, ws, id)?.map(|node| node.path),
        None => None,
    };
    let holder = (asker.agent, asker.session);
    let ended = claims::ended_sessions(tx, ws, home.id, holder, when)?;
    let keys = wanted.keys();
    let ready = Ready {
        project: home.id,
        scope: scope.as_deref(),
        keys: &keys,
        agent: asker.agent,
        session: asker.session,
        ended: &ended,
        stale: asker.now.minus(asker.rules.claim_ttl),
        most: wanted.count,
    };
    let ids = match why::has_plan(home) {
        true => ready::ready(tx, ws, &ready)?,
        false => Vec::new(),
    };
    if ids.is_empty() {
        return Ok(Err(why::empty(tx, ws, home, (&ready, &place), when)?));
    }
    Ok(Ok(ids))
}

/// One node, if it can be started by the asker, or why not.
fn named(
    tx: &mut Tx<'_>,
    ws: Ws,
    id: Id,
    handle: &str,
    asker: Asker<'_>,
) -> Result<std::result::Result<Vec<Id>, Reason>> {
    let when = (asker.rules, asker.now);
    let Some(node) = nodes::get(tx, ws, id)? else {
        return Err(crate::view::no_such(
            tx,
            ws,
            crate::view::Sought::Node,
            handle,
        )?);
    };
    if node.standing == Standing::Ready && is_free(tx, ws, &node, asker)? {
        return Ok(Ok(vec![id]));
    }
    Ok(Err(why::of_node(tx, ws, &node, handle, when)?))
}

fn is_free(tx: &mut Tx<'_>, ws: Ws, node: &Node, asker: Asker<'_>) -> Result<bool> {
    let Some(claim) = claims::of(node).filter(|one| claims::counts(one, asker.rules, asker.now))
    else {
        return Ok(true);
    };
    let ours = claim.by == asker.agent;
    Ok(ours
        && (claim.session == asker.session
            || !claims::is_alive(tx, ws, &claim.session, claim.at, asker.now)?))
}

/// The answer that has nothing, with the reason.
fn nothing(reason: &Reason, budget: &Budget) -> Value {
    let answer = json!({ "nodes": [], "reason": reason, "hint": reason.hint() });
    if budget.holds(&answer) {
        return answer;
    }
    let short = json!({ "nodes": [], "reason": { "code": reason.code }, "truncated": true });
    match budget.holds(&short) {
        true => short,
        false => json!({ "nodes": [], "truncated": true }),
    }
}

fn claim_one(work: &mut Work<'_, '_>, id: Id) -> Result<()> {
    let mut data = work.thing(id)?.data.clone();
    claims::set(&mut data, &work.caller.agent, &work.session, work.now);
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
fn shown(tx: &mut Tx<'_>, ws: Ws, ids: &[Id], claimed: Option<Asker<'_>>) -> Result<Vec<Value>> {
    let mut above: HashMap<Id, Vec<Thing>> = HashMap::new();
    let mut list = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(entity) = entities::get(tx, ws, *id)? else {
            continue;
        };
        let parent = entity.parent;
        let mut thing = Thing::open(entity)?;
        if let Some(by) = claimed {
            claims::set(&mut thing.data, by.agent, by.session, by.now);
            thing.entity.version += 1;
            thing.entity.updated_at = by.now;
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
