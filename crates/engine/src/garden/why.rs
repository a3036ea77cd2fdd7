//! `why`: the causes of anything, back to what it all began with, newest first.

use serde_json::{Value, json};
use understory_model::budget::{Budget, Drop, fit_list};
use understory_model::error::{Fault, Result};
use understory_model::fragment::parse_anchor;
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::refs::parse_lines;
use understory_model::text::cut;
use understory_model::{Caller, Id, Seq, Ws};
use understory_storage::{Tx, items};

use super::artifact::{self, LineAt, LinesAt};
use super::shape::{PREVIEW, Shapes};
use super::{ARTIFACT_DELTA, content, trace};
use crate::View;
use crate::names::{self, Found, Scope};
use crate::parts::{self, Part};

/// Changes of an entity that are read at once to find one that has a cause.
const CHUNK: i64 = 200;

pub fn why(
    view: &mut View<'_, '_>,
    caller: &Caller,
    (scope, id): (Scope<'_>, &str),
    budget: &Budget,
) -> Result<Value> {
    let (tx, ws) = (&mut *view.tx, view.ws);
    let mut answer = json!({ "id": id });
    let lines = match parse_lines(id) {
        Some(named) => artifact::lines_at(tx, scope, &named)?,
        None => None,
    };
    let Some(lines) = lines else {
        let start = start(tx, scope, id)?;
        return explained(tx, scope, caller, answer, (&start, Vec::new()), budget);
    };
    let shown = lines.lines.iter().map(|line| line_shape(&lines, line));
    let mut shown: Vec<Value> = shown.collect();
    match lines.lines.len() {
        1 => answer["line"] = shown.remove(0),
        _ => answer["lines"] = shown.into(),
    }
    // What the lines themselves were made of comes before what else their commit cites.
    let mut made_of = Vec::new();
    for line in &lines.lines {
        if let Some(anchor) = line.source.as_deref().and_then(parse_anchor)
            && let Some(part) = parts::anchored(tx, scope, &anchor)?
        {
            made_of.push(part);
        }
    }
    let by = items::get(tx, ws, lines.newest().by.seq)?;
    let by = by.ok_or_else(|| Fault::not_found("nothing is known of it"))?;
    explained(tx, scope, caller, answer, (&by, made_of), budget)
}

/// A line of an artifact, with the commit that wrote it and what it was made of.
fn line_shape(lines: &LinesAt, line: &LineAt) -> Value {
    let mut shown = json!({
        "artifact": lines.artifact.name,
        "label": lines.artifact.row.label,
        "line": line.line,
        "content": line.content,
        "fragment": line.fragment,
        "commit": line.by.hash,
    });
    if let Some(part) = &line.source {
        shown["source"] = part.clone().into();
    }
    shown
}

fn start(tx: &mut Tx<'_>, scope: Scope<'_>, id: &str) -> Result<Item> {
    if id.contains('#') {
        return names::item(tx, scope, "id", id);
    }
    match names::find(tx, scope, "id", id)? {
        Found::Item(item) => Ok(*item),
        found => telling(tx, scope.ws, found.id()),
    }
}

/// The steps from an item back to its root.
fn explained(
    tx: &mut Tx<'_>,
    scope: Scope<'_>,
    caller: &Caller,
    mut answer: Value,
    (start, mut parts): (&Item, Vec<Part>),
    budget: &Budget,
) -> Result<Value> {
    let ws = scope.ws;
    for part in informing(tx, scope, start)? {
        let known = |there: &Part| there.item.seq == part.item.seq && there.name == part.name;
        if !parts.iter().any(known) {
            parts.push(part);
        }
    }
    let mut trace = trace::backwards(tx, scope, start.seq, trace::DEPTH)?;
    // A commit without a cause still names what it was made from.
    if let (1, Some(part)) = (trace.steps.len(), parts.first()) {
        let more = trace::backwards(tx, scope, part.item.seq, trace::DEPTH)?;
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
        first["references"] = parts.iter().map(cited).collect();
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
fn informing(tx: &mut Tx<'_>, scope: Scope<'_>, item: &Item) -> Result<Vec<Part>> {
    if item.kind != ARTIFACT_DELTA {
        return Ok(Vec::new());
    }
    let fields = content(item).map(|content| content.fields);
    let named = fields.as_ref().and_then(|fields| fields.get("references"));
    let named = named.and_then(Value::as_array).into_iter().flatten();
    let scope = Scope {
        project: item.project,
        ..scope
    };
    let mut parts = Vec::new();
    for name in named.filter_map(Value::as_str) {
        let part = match parse_anchor(name) {
            Some(anchor) => parts::anchored(tx, scope, &anchor)?,
            None => parts::newest(tx, scope, name)?,
        };
        parts.extend(part);
    }
    Ok(parts)
}

fn cited(part: &Part) -> Value {
    json!({
        "message_uuid": item_name(&part.item.uuid),
        "content": cut(&part.content, PREVIEW),
    })
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
