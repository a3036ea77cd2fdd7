//! `graph_context`: a node, what is above and below it, and what it waits for.

use serde_json::{Map, Value, json};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::link::DEPENDS_ON;
use understory_storage::entities;
use understory_storage::links;

use crate::View;
use crate::core::Thing;
use crate::graph::{fields, find, shape};

/// Children of one node, and links of one kind, that an answer holds.
const MOST: i64 = 1_000;

/// The whole neighbourhood, made smaller step by step until it fits the budget.
pub fn context(
    view: &mut View<'_, '_>,
    handle: &str,
    depth: i64,
    budget: &Budget,
) -> Result<Value> {
    let thing = Thing::open(find(view, handle)?)?;
    let above = shape::ancestors(view.tx, view.ws, thing.entity.id)?;
    let mut left = MOST;
    let mut answer = Map::new();
    let parent = above.last().map(|parent| parent.entity.handle.as_str());
    answer.insert("node".into(), shape::node(&thing, parent));
    answer.insert("ancestors".into(), ancestors(&above));
    answer.insert("children".into(), tree(view, &thing, depth, &mut left)?);
    let (depends_on, more) = dependencies(view, &thing, &above, true)?;
    let (depended_by, still_more) = dependencies(view, &thing, &above, false)?;
    answer.insert("depends_on".into(), depends_on);
    answer.insert("depended_by".into(), depended_by);
    let mut answer = Value::Object(answer);
    if left < 0 || more || still_more {
        answer["truncated"] = true.into();
    }
    let mut shallower = depth;
    while !budget.holds(&answer) && shallower > 0 {
        shallower -= 1;
        let mut left = MOST;
        answer["children"] = tree(view, &thing, shallower, &mut left)?;
        answer["truncated"] = true.into();
    }
    Ok(squeezed(answer, budget))
}

/// What is dropped when even the shallowest tree is too much: neighbours, then all but the node's
/// name, then everything.
fn squeezed(mut answer: Value, budget: &Budget) -> Value {
    for list in ["depended_by", "depends_on", "ancestors"] {
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

/// A node and what is below it, `depth` levels down; what lies deeper is counted. `left` bounds
/// how many nodes the whole tree may hold, and goes below zero when it would hold more.
fn tree(view: &mut View<'_, '_>, thing: &Thing, depth: i64, left: &mut i64) -> Result<Value> {
    let (ws, id) = (view.ws, thing.entity.id);
    let mut shown = Map::new();
    shown.insert("id".into(), thing.entity.handle.clone().into());
    shown.insert("summary".into(), fields::summary(&thing.data).into());
    shown.insert("resolved".into(), fields::resolved(&thing.data).into());
    if let Some(state) = thing.data.get("state") {
        shown.insert("state".into(), state.clone());
    }
    let count = entities::child_count(view.tx, ws, id)?;
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
    let mut below = Vec::new();
    for child in entities::children(view.tx, ws, id, most)? {
        below.push(tree(view, &Thing::open(child)?, depth - 1, left)?);
    }
    shown.insert("children".into(), below.into());
    Ok(Value::Object(shown))
}

/// One side of the dependencies, and whether there are more than are shown.
fn dependencies(
    view: &mut View<'_, '_>,
    thing: &Thing,
    above: &[Thing],
    outgoing: bool,
) -> Result<(Value, bool)> {
    let id = thing.entity.id;
    let mut linked = links::along(view.tx, view.ws, id, DEPENDS_ON, outgoing, MOST + 1)?;
    let more = linked.len() as i64 > MOST;
    linked.truncate(MOST as usize);
    // Whether this node itself satisfies those that wait for it.
    let own = fields::resolved(&thing.data);
    let mut shown = Vec::with_capacity(linked.len());
    for entity in linked {
        let node = shape::neighbour(view.tx, view.ws, entity, above)?;
        let satisfied = if outgoing {
            node["resolved"] == json!(true)
        } else {
            own
        };
        shown.push(json!({ "node": node, "satisfied": satisfied }));
    }
    Ok((shown.into(), more))
}
