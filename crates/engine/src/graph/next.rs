//! `graph_next`: the best node to work on now, claimed in the same step when asked.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{self, Answer, Fit, Shape};
use understory_model::budget::{Budget, Drop};
use understory_model::error::Result;
use understory_model::link::DEPENDS_ON;
use understory_model::{Id, Ws};
use understory_storage::keys::Pair;
use understory_storage::nodes::{self, Standing};
use understory_storage::projects::Project;
use understory_storage::{ReadTx, entities, links, ready};

use crate::graph::claim::Expiry;
use crate::graph::shape::{self, Node};
use crate::graph::why::{self, Place, Reason};
use crate::graph::{claim as claims, find, find_to_change, project};
use crate::kernel::content::brief::Brief;
use crate::kernel::content::node as fields;
use crate::kernel::content::node::Evidence;
use crate::kernel::core::Thing;
use crate::kernel::work::Edit;
use crate::{View, Work};

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
    expiry: Expiry,
}

/// The answer of `graph_next`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Next {
    /// The best first.
    pub nodes: Vec<Ready>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// There is more than is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Fit for Next {
    const SHAPE: Shape = Shape::List {
        list: "nodes",
        drop: Drop::Last,
    };
}

/// A node that can be worked on, with what one needs to know for it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    pub node: Node,
    /// Root first.
    pub ancestors: Vec<Brief>,
    pub context_links: Links,
    pub resolved_deps: Vec<Resolved>,
}

/// What a node and those above it link to.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Links {
    #[serde(rename = "self")]
    pub own: Vec<String>,
    pub inherited: Vec<Inherited>,
}

/// The links of a node further up.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Inherited {
    pub node_id: String,
    pub links: Vec<String>,
}

/// What was done that a node waited for, with the evidence of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Resolved {
    pub id: String,
    pub summary: String,
    pub evidence: Vec<Evidence>,
}

/// What is next, without touching it.
pub fn look(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<Answer<Next>> {
    let caller = view.caller;
    let name = wanted.project.as_deref().unwrap_or(&caller.project);
    let asker = Asker {
        agent: &caller.agent,
        session: &caller.session,
        expiry: Expiry::new(&view.rules, view.now),
    };
    let found = match &wanted.node {
        Some(handle) => {
            let id = find(view, handle)?.id;
            named(view.tx, view.ws, id, handle, asker)?
        }
        None => {
            let Some(home) = project::to_read(view, caller, wanted.project.as_deref())? else {
                return nothing(Reason::nothing_planned(name), &wanted.budget);
            };
            let scope = match &wanted.scope {
                Some(scope) => Some(find(view, scope)?.id),
                None => None,
            };
            let place = Place {
                project: name,
                scope: wanted.scope.as_deref().zip(scope),
            };
            best(view.tx, view.ws, &home, wanted, place, asker)?
        }
    };
    match found {
        Ok(ids) => {
            let list = shown(view.tx, view.ws, &ids, None)?;
            fitted(list, &wanted.budget)
        }
        Err(reason) => nothing(reason, &wanted.budget),
    }
}

/// What is next, made the caller's own: nobody else is told the same until the claim goes stale.
pub fn claim(work: &mut Work<'_, '_>, wanted: &Wanted) -> Result<Answer<Next>> {
    let name = wanted.project.as_deref().unwrap_or(&work.caller.project);
    let name = name.to_string();
    let session = work.session.clone();
    let asker = Asker {
        agent: &work.caller.agent,
        session: &session,
        expiry: Expiry::new(&work.rules, work.now),
    };
    let found = match &wanted.node {
        Some(handle) => {
            let id = find_to_change(work, handle)?;
            let open = work.node(id)?;
            if open.is_some_and(|node| node.standing == Standing::Ready) {
                claims::check_take(work, id)?;
            }
            let ws = work.ws();
            named(work.read()?, ws, id, handle, asker)?
        }
        None => {
            let Some(home) = there(work, wanted.project.as_deref())? else {
                return nothing(Reason::nothing_planned(&name), &wanted.budget);
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
            best(work.read()?, ws, &home, wanted, place, asker)?
        }
    };
    let ids = match found {
        Ok(ids) => ids,
        Err(reason) => return nothing(reason, &wanted.budget),
    };
    let ws = work.ws();
    let list = shown(work.read()?, ws, &ids, Some(asker))?;
    let answer = fitted(list, &wanted.budget)?;
    // What the budget leaves no room to tell is not taken from others either.
    for id in ids.iter().take(told(&answer)) {
        claim_one(work, *id)?;
    }
    Ok(answer)
}

/// The project to claim in. A claim creates neither a project nor its root: without them there is
/// no work.
fn there(work: &mut Work<'_, '_>, named: Option<&str>) -> Result<Option<Project>> {
    project::check_known(work, named)?;
    let name = named.unwrap_or(&work.caller.project);
    project::check_name(name)?;
    match work.by_handle(&project::handle(name))? {
        Some(id) => Ok(work.project_row(id)?.cloned()),
        None => Ok(None),
    }
}

/// The best of a project, or why there is none.
fn best(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    home: &Project,
    wanted: &Wanted,
    place: Place<'_>,
    asker: Asker<'_>,
) -> Result<std::result::Result<Vec<Id>, Reason>> {
    let scope = match place.scope {
        Some((_, id)) => nodes::get(tx, ws, id)?.map(|node| node.path),
        None => None,
    };
    let holder = (asker.agent, asker.session);
    let ended = claims::ended_sessions(tx, ws, home.id, holder, asker.expiry)?;
    let keys = wanted.keys();
    let ready = ready::Ready {
        project: home.id,
        scope: scope.as_deref(),
        keys: &keys,
        agent: asker.agent,
        session: asker.session,
        ended: &ended,
        stale: asker.expiry.stale(),
        most: wanted.count,
    };
    let ids = if why::has_plan(home) {
        ready::ready(tx, ws, &ready)?
    } else {
        Vec::new()
    };
    if ids.is_empty() {
        return Ok(Err(why::empty(tx, ws, home, &ready, &place, asker.expiry)?));
    }
    Ok(Ok(ids))
}

/// One node, if it can be started by the asker, or why not.
fn named(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    id: Id,
    handle: &str,
    asker: Asker<'_>,
) -> Result<std::result::Result<Vec<Id>, Reason>> {
    let Some(node) = nodes::get(tx, ws, id)? else {
        return Err(crate::kernel::view::no_such(
            tx,
            ws,
            crate::kernel::view::Sought::Node,
            handle,
        )?);
    };
    if node.standing == Standing::Ready && is_free(tx, ws, &node, asker)? {
        return Ok(Ok(vec![id]));
    }
    Ok(Err(why::of_node(tx, ws, &node, handle, asker.expiry)?))
}

fn is_free(tx: &mut ReadTx<'_>, ws: Ws, node: &nodes::Node, asker: Asker<'_>) -> Result<bool> {
    let Some(claim) = claims::of(node).filter(|one| asker.expiry.counts(one)) else {
        return Ok(true);
    };
    let ours = claim.by == asker.agent;
    Ok(ours
        && (claim.session == asker.session
            || !claims::is_alive(tx, ws, &claim.session, claim.at, asker.expiry.now)?))
}

/// The answer that has nothing, with the reason.
fn nothing(reason: Reason, budget: &Budget) -> Result<Answer<Next>> {
    let hint = Some(reason.hint().to_string());
    let next = Next {
        reason: Some(reason),
        hint,
        ..Next::default()
    };
    answer::fit_fields(next, &["/nodes", "/reason/code"], budget)
}

/// How many nodes an answer shows.
fn told(answer: &Answer<Next>) -> usize {
    match answer {
        Answer::Whole(next) => next.nodes.len(),
        Answer::Json(json) => json["nodes"].as_array().map_or(0, Vec::len),
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
fn fitted(nodes: Vec<Ready>, budget: &Budget) -> Result<Answer<Next>> {
    let best = nodes.first().cloned();
    let next = Next {
        nodes,
        ..Next::default()
    };
    let answer = answer::fit(next, budget)?;
    match best {
        Some(best) if told(&answer) == 0 => Ok(lean(best, budget)?.unwrap_or(answer)),
        _ => Ok(answer),
    }
}

/// The best node alone, with ever less around it; `None` where not even its name fits. Only this
/// list of whole tasks does so: in every other one an element may be left out.
fn lean(best: Ready, budget: &Budget) -> Result<Option<Answer<Next>>> {
    let mut next = Next {
        nodes: vec![best],
        truncated: true,
        ..Next::default()
    };
    let steps: [fn(&mut Ready); 3] = [
        |best| {
            let deps = best.resolved_deps.iter_mut();
            deps.for_each(|dep| dep.evidence.clear());
        },
        |best| best.resolved_deps.clear(),
        |best| {
            best.node.evidence.clear();
            best.context_links = Links::default();
        },
    ];
    for step in steps {
        next.nodes.iter_mut().for_each(step);
        if budget.holds_serialized(&next) {
            return Ok(Some(Answer::Whole(next)));
        }
    }
    const NAME: [&str; 3] = [
        "/nodes/0/node/id",
        "/nodes/0/node/rev",
        "/nodes/0/node/resolved",
    ];
    let name = answer::fit_fields(next, &NAME, budget)?;
    Ok(Some(name).filter(|name| told(name) > 0))
}

/// Each node with what one needs to start on it, as it is or as this claim will leave it.
fn shown(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    ids: &[Id],
    claimed: Option<Asker<'_>>,
) -> Result<Vec<Ready>> {
    let mut above: HashMap<Id, Vec<Thing>> = HashMap::new();
    let mut list = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(entity) = entities::get(tx, ws, *id)? else {
            continue;
        };
        let parent = entity.parent;
        let mut thing = Thing::open(entity)?;
        if let Some(by) = claimed {
            claims::set(&mut thing.data, by.agent, by.session, by.expiry.now);
            thing.entity.version += 1;
            thing.entity.updated_at = by.expiry.now;
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

fn one(thing: &Thing, ancestors: &[Thing], resolved_deps: Vec<Resolved>) -> Ready {
    let inherited = ancestors.iter().map(|above| Inherited {
        node_id: above.entity.handle.clone(),
        links: fields::context_links(&above.data),
    });
    let parent = ancestors.last().map(|parent| parent.entity.handle.as_str());
    Ready {
        node: Node::new(thing, parent),
        ancestors: ancestors.iter().map(Brief::of).collect(),
        context_links: Links {
            own: fields::context_links(&thing.data),
            inherited: inherited.filter(|above| !above.links.is_empty()).collect(),
        },
        resolved_deps,
    }
}

/// What was done that this waited for, with the evidence of it.
fn resolved_deps(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Vec<Resolved>> {
    let mut done = Vec::new();
    for target in links::targets(tx, ws, id, DEPENDS_ON)? {
        if let Some(entity) = entities::get(tx, ws, target)? {
            let thing = Thing::open(entity)?;
            done.push(Resolved {
                summary: fields::summary(&thing.data).to_string(),
                evidence: fields::pieces(&thing.data),
                id: thing.entity.handle,
            });
        }
    }
    Ok(done)
}
