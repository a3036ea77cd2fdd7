//! `graph_context`: a node, what is above and below it, and what it waits for.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use understory_model::Id;
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::link::DEPENDS_ON;
use understory_storage::entities::{self, Entity};
use understory_storage::links::{self, Around, Linked};

use crate::View;
use crate::core::Thing;
use crate::graph::{fields, find_surviving, shape};

/// Children of one node, and links of one kind, that an answer holds.
const MOST: i64 = 1_000;

/// The whole neighbourhood, made smaller step by step until it fits the budget.
pub fn context(
    view: &mut View<'_, '_>,
    handle: &str,
    depth: i64,
    budget: &Budget,
) -> Result<Value> {
    let thing = Thing::open(find_surviving(view, handle)?)?;
    let above = shape::ancestors(view.tx, view.ws, &thing.entity)?;
    let mut left = MOST;
    let mut answer = Map::new();
    let parent = above.last().map(|parent| parent.entity.handle.as_str());
    answer.insert("node".into(), shape::node(&thing, parent));
    if thing.entity.handle != handle {
        answer.insert("merged_from".into(), handle.into());
    }
    answer.insert("ancestors".into(), ancestors(&above));
    let count = child_counts(view, &[&thing])?
        .get(&thing.entity.id)
        .copied();
    let count = count.unwrap_or(0);
    answer.insert(
        "children".into(),
        tree(view, &thing, count, depth, &mut left)?,
    );
    let id = thing.entity.id;
    let Around { to, from, others } = links::around(view.tx, view.ws, id, DEPENDS_ON, MOST + 1)?;
    // Those that wait for this node are satisfied when it is resolved.
    let own = Some(fields::resolved(&thing.data));
    let (depends_on, more) = dependencies(to, None)?;
    let (depended_by, still_more) = dependencies(from, own)?;
    answer.insert("depends_on".into(), depends_on);
    answer.insert("depended_by".into(), depended_by);
    let yet_more = others.len() as i64 > MOST;
    if !others.is_empty() {
        answer.insert("edges".into(), edges(others)?);
    }
    let mut answer = Value::Object(answer);
    if left < 0 || more || still_more || yet_more {
        answer["truncated"] = true.into();
    }
    let mut shallower = depth;
    while !budget.holds(&answer) && shallower > 0 {
        shallower -= 1;
        let mut left = MOST;
        answer["children"] = tree(view, &thing, count, shallower, &mut left)?;
        answer["truncated"] = true.into();
    }
    Ok(squeezed(answer, budget))
}

/// What is dropped when even the shallowest tree is too much: neighbours, then all but the node's
/// name, then everything.
fn squeezed(mut answer: Value, budget: &Budget) -> Value {
    for list in ["edges", "depended_by", "depends_on", "ancestors"] {
        if budget.holds(&answer) {
            return answer;
        }
        answer["truncated"] = true.into();
        while !budget.holds(&answer)
            && let Some(some) = answer[list].as_array_mut().filter(|some| !some.is_empty())
        {
            some.truncate(some.len() / 2);
        }
    }
    if budget.holds(&answer) {
        return answer;
    }
    let node = &answer["node"];
    let name = json!({ "id": node["id"], "rev": node["rev"], "resolved": node["resolved"] });
    let least = json!({ "node": name, "truncated": true });
    if budget.holds(&least) {
        least
    } else {
        json!({ "truncated": true })
    }
}

fn ancestors(above: &[Thing]) -> Value {
    above
        .iter()
        .map(|thing| {
            json!({
                "id": thing.entity.handle,
                "summary": fields::summary(&thing.data),
                "resolved": fields::resolved(&thing.data),
            })
        })
        .collect()
}

fn child_counts(view: &mut View<'_, '_>, things: &[&Thing]) -> Result<HashMap<Id, i64>> {
    let ids: Vec<Id> = things.iter().map(|thing| thing.entity.id).collect();
    entities::child_counts(view.tx, view.ws, &ids)
}

/// A node, its `count` children and what is below those, `depth` levels down; what lies deeper is
/// counted. `left` bounds how many nodes the whole tree may hold, and goes below zero when it would
/// hold more.
fn tree(
    view: &mut View<'_, '_>,
    thing: &Thing,
    count: i64,
    depth: i64,
    left: &mut i64,
) -> Result<Value> {
    let (ws, id) = (view.ws, thing.entity.id);
    let mut shown = Map::new();
    shown.insert("id".into(), thing.entity.handle.clone().into());
    shown.insert("summary".into(), fields::summary(&thing.data).into());
    shown.insert("resolved".into(), fields::resolved(&thing.data).into());
    if fields::dropped(&thing.data) {
        shown.insert(fields::DROPPED.into(), true.into());
    }
    if let Some(state) = thing.data.get("state") {
        shown.insert("state".into(), state.clone());
    }
    if count == 0 {
        return Ok(Value::Object(shown));
    }
    if depth == 0 || *left <= 0 {
        if depth > 0 {
            *left = -1;
        }
        shown.insert("child_count".into(), count.into());
        return Ok(Value::Object(shown));
    }
    let most = (*left).min(count);
    *left -= count;
    if most < count {
        shown.insert("child_count".into(), count.into());
    }
    let children = entities::children(view.tx, ws, id, most)?;
    let children = children
        .into_iter()
        .map(Thing::open)
        .collect::<Result<Vec<Thing>>>()?;
    let counts = child_counts(view, &children.iter().collect::<Vec<_>>())?;
    let mut below = Vec::with_capacity(children.len());
    for child in &children {
        let count = counts.get(&child.entity.id).copied().unwrap_or(0);
        below.push(tree(view, child, count, depth - 1, left)?);
    }
    shown.insert("children".into(), below.into());
    Ok(Value::Object(shown))
}

/// Which way an edge goes from the node that was asked for.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Out,
    In,
}

/// The edges of every other type.
fn edges(others: Vec<(Linked, bool)>) -> Result<Value> {
    let mut shown = Vec::with_capacity(others.len());
    for (linked, leads) in others.into_iter().take(MOST as usize) {
        let direction = match leads {
            true => Direction::Out,
            false => Direction::In,
        };
        let thing = Thing::open(linked.entity)?;
        shown.push(json!({
            "type": linked.relation,
            "direction": direction,
            "node": {
                "id": thing.entity.handle,
                "summary": fields::summary(&thing.data),
                "resolved": fields::resolved(&thing.data),
            },
        }));
    }
    Ok(shown.into())
}

/// One side of the dependencies, and whether there are more than are shown. Each is satisfied as
/// `satisfied` says, or when it is resolved itself.
fn dependencies(mut linked: Vec<Entity>, satisfied: Option<bool>) -> Result<(Value, bool)> {
    let more = linked.len() as i64 > MOST;
    linked.truncate(MOST as usize);
    let mut shown = Vec::with_capacity(linked.len());
    for entity in linked {
        let node = shape::neighbour(entity)?;
        let satisfied = satisfied.unwrap_or(node["resolved"] == json!(true));
        let mut one = Map::new();
        one.insert("node".into(), node);
        one.insert("satisfied".into(), satisfied.into());
        shown.push(Value::Object(one));
    }
    Ok((shown.into(), more))
}
