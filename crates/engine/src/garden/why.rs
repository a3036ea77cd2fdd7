//! `why`: the causes of anything, back to what it all began with, newest first.

use serde_json::{Value, json};
use understory_model::budget::{Budget, Drop, fit_list};
use understory_model::error::{Fault, Result};
use understory_model::fragment::parse_anchor;
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::text::cut;
use understory_model::{Caller, Id, Seq, Ws};
use understory_storage::{Tx, items};

use super::name::{self, Found};
use super::refs::{self, Part};
use super::shape::{PREVIEW, Shapes};
use super::{ARTIFACT_DELTA, artifact, content, trace};
use crate::View;

/// Changes of an entity that are read at once to find one that has a cause.
const CHUNK: i64 = 200;

pub fn why(view: &mut View<'_, '_>, caller: &Caller, id: &str, budget: &Budget) -> Result<Value> {
    let (tx, ws) = (&mut *view.tx, view.ws);
    let mut answer = json!({ "id": id });
    let start = match line(tx, ws, id)? {
        Some((shown, by)) => {
            answer["line"] = shown;
            by
        }
        None => start(tx, ws, id)?,
    };
    explained(tx, ws, caller, answer, &start, budget)
}

/// A line of an artifact, and the commit that wrote it.
fn line(tx: &mut Tx<'_>, ws: Ws, id: &str) -> Result<Option<(Value, Item)>> {
    let Some(named) = artifact::parse_line(id) else {
        return Ok(None);
    };
    let Some(found) = artifact::line(tx, ws, None, named)? else {
        return Ok(None);
    };
    let Some(by) = items::get(tx, ws, found.by.seq)? else {
        return Ok(None);
    };
    let shown = json!({
        "artifact": found.artifact.name,
        "label": found.artifact.row.label,
        "line": found.line,
        "content": found.content,
        "fragment": found.fragment,
        "commit": found.by.hash,
    });
    Ok(Some((shown, by)))
}

fn start(tx: &mut Tx<'_>, ws: Ws, id: &str) -> Result<Item> {
    let bare = id.split_once('#').map_or(id, |(item, _)| item);
    match name::find(tx, ws, "id", bare)? {
        Found::Item(item) => Ok(*item),
        found => telling(tx, ws, found.id()),
    }
}

/// The steps from an item back to its root.
fn explained(
    tx: &mut Tx<'_>,
    ws: Ws,
    caller: &Caller,
    mut answer: Value,
    start: &Item,
    budget: &Budget,
) -> Result<Value> {
    let parts = informing(tx, ws, start)?;
    let mut trace = trace::backwards(tx, ws, start.seq, trace::DEPTH)?;
    // A commit without a cause still names what it was made from.
    if let (1, Some(part)) = (trace.steps.len(), parts.first()) {
        let more = trace::backwards(tx, ws, part.item.seq, trace::DEPTH)?;
        trace.steps.extend(more.steps);
        (trace.cycle, trace.more) = (more.cycle, more.more);
    }
    let shown = trace.steps.iter().map(|step| &step.item);
    let shapes = Shapes::load(
        tx,
        ws,
        caller,
        shown.chain(parts.iter().map(|part| &part.item)),
    )?;
    let mut steps: Vec<Value> = trace
        .steps
        .iter()
        .map(|step| shapes.step(&step.item))
        .collect();
    if let (Some(first), false) = (steps.first_mut(), parts.is_empty()) {
        first["references"] = parts.iter().map(|part| cited(&shapes, part)).collect();
    }
    answer["steps"] = steps.into();
    if trace.cycle {
        answer["cycle"] = true.into();
    }
    if trace.more {
        answer["truncated"] = true.into();
    }
    Ok(fit_list(answer, "steps", budget, Drop::Last))
}

/// The parts of messages that a commit says it was made from.
fn informing(tx: &mut Tx<'_>, ws: Ws, item: &Item) -> Result<Vec<Part>> {
    if item.kind != ARTIFACT_DELTA {
        return Ok(Vec::new());
    }
    let fields = content(item).map(|content| content.fields);
    let named = fields.as_ref().and_then(|fields| fields.get("references"));
    let named = named.and_then(Value::as_array).into_iter().flatten();
    let mut parts = Vec::new();
    for name in named.filter_map(Value::as_str) {
        let part = match parse_anchor(name) {
            Some(anchor) => refs::anchored(tx, ws, &anchor)?,
            None => refs::fragment(tx, ws, name)?,
        };
        parts.extend(part);
    }
    Ok(parts)
}

fn cited(shapes: &Shapes, part: &Part) -> Value {
    let said = match shapes.shows(&part.item) {
        true => cut(&part.content, PREVIEW),
        false => String::new(),
    };
    json!({ "message_uuid": item_name(&part.item.uuid), "content": said })
}

/// The change of an entity that says most about why it is as it is: the last that has a cause, else
/// the one that made it.
fn telling(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Item> {
    let (mut before, mut made) = (Seq::MAX, None);
    loop {
        let batch = items::of_entity(tx, ws, id, before, CHUNK)?;
        let Some(last) = batch.last() else { break };
        before = last.seq;
        if let Some(caused) = batch.iter().find(|item| item.cause.is_some()) {
            return Ok(caused.clone());
        }
        made = batch.into_iter().last();
    }
    made.ok_or_else(|| Fault::not_found("nothing is known of it"))
}
