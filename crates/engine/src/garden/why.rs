//! `why`: the causes of anything, back to what it all began with, newest first.

use serde_json::{Value, json};
use understory_model::budget::{Budget, Drop, fit_list};
use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Caller, Id, Seq, Ws};
use understory_storage::{Tx, items};

use super::name::{self, Found};
use super::shape::Shapes;
use super::trace;
use crate::View;

/// Changes of an entity that are looked through for one that has a cause.
const LOOKED_AT: i64 = 200;

pub fn why(view: &mut View<'_, '_>, caller: &Caller, id: &str, budget: &Budget) -> Result<Value> {
    let (tx, ws) = (&mut *view.tx, view.ws);
    let bare = id.split_once('#').map_or(id, |(item, _)| item);
    let start = match name::find(tx, ws, "id", bare)? {
        Found::Item(item) => *item,
        Found::Entity(entity) => telling(tx, ws, entity.id)?,
        found @ Found::Relation(..) => telling(tx, ws, found.id())?,
    };
    explained(tx, ws, caller, json!({ "id": id }), &start, budget)
}

/// The steps from an item back to its root.
pub fn explained(
    tx: &mut Tx<'_>,
    ws: Ws,
    caller: &Caller,
    mut answer: Value,
    start: &Item,
    budget: &Budget,
) -> Result<Value> {
    let trace = trace::backwards(tx, ws, start.seq, trace::DEPTH)?;
    let shapes = Shapes::load(tx, ws, caller, trace.steps.iter().map(|step| &step.item))?;
    let steps: Vec<Value> = trace
        .steps
        .iter()
        .map(|step| shapes.step(&step.item))
        .collect();
    answer["steps"] = steps.into();
    if trace.cycle {
        answer["cycle"] = true.into();
    }
    if trace.more {
        answer["truncated"] = true.into();
    }
    Ok(fit_list(answer, "steps", budget, Drop::Last))
}

/// The change of an entity that says most about why it is as it is: the last that has a cause, else
/// the one that made it.
fn telling(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Item> {
    let mut before = Seq::MAX;
    let mut made = None;
    for _ in 0..LOOKED_AT {
        let batch = items::of_entity(tx, ws, id, before, LOOKED_AT)?;
        let Some(last) = batch.last() else { break };
        before = last.seq;
        if let Some(caused) = batch.iter().find(|item| item.cause.is_some()) {
            return Ok(caused.clone());
        }
        made = batch.into_iter().last();
    }
    made.ok_or_else(|| understory_model::Fault::not_found("nothing is known of it"))
}
