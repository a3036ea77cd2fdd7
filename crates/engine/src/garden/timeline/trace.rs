//! `garden_trace`: what led to an item, what it led to, and what it all began with.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::{Fault, Result};
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::{Id, Seq, Ws, limits};
use understory_storage::relations::End;
use understory_storage::{ReadTx, causes, items, relations as rows};

use crate::View;
use crate::garden::shape::Shapes;
use crate::garden::shown;
use crate::kernel::access::Reader;
use crate::kernel::content::relation::TRIGGERS;
use crate::kernel::names::{self, Scope};

/// Causes of one item, said by relations, of which the first that may be read counts.
const CAUSES: i64 = 50;

/// One item of a trace: how far from where it began, and from which item it was reached.
#[derive(Debug, Clone)]
pub struct Step {
    pub item: Item,
    pub depth: i64,
    pub parent: Option<Seq>,
}

/// A trace, and whether it goes on.
#[derive(Debug, Default)]
pub struct Trace {
    pub steps: Vec<Step>,
    pub cycle: bool,
    pub more: bool,
}

/// What led to an item, step by step; the item itself comes first. It ends where it began to
/// repeat, and before what the caller may not read.
pub fn backwards(tx: &mut ReadTx<'_>, scope: Scope<'_>, from: Seq, most: i64) -> Result<Trace> {
    let (ws, mut reader) = (scope.ws, Reader::new(scope.caller));
    let mut trace = Trace::default();
    let (mut seen, mut at) = (HashSet::new(), Some(from));
    while let Some(start) = at {
        at = None;
        // Most causes stand in the items themselves, and one question follows them all.
        for item in causes::chain(tx, ws, start, most + 1 - trace.steps.len() as i64)? {
            if !seen.insert(item.seq) {
                trace.cycle = true;
                return Ok(trace);
            }
            if !reader.item(tx, ws, &item)? {
                return Ok(trace);
            }
            let parent = trace.steps.last().map(|step: &Step| step.item.seq);
            let depth = trace.steps.len() as i64;
            trace.steps.push(Step {
                item,
                depth,
                parent,
            });
        }
        let Some(last) = trace.steps.last() else {
            break;
        };
        if trace.steps.len() as i64 > most {
            trace.steps.pop();
            trace.more = true;
        } else if last.item.cause.is_none() {
            at = said_cause(tx, ws, &mut reader, last.item.seq)?;
        }
    }
    Ok(trace)
}

/// The cause that somebody said later, with a relation.
fn said_cause(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    reader: &mut Reader<'_>,
    seq: Seq,
) -> Result<Option<Seq>> {
    let page = ((Seq::MIN, 0), CAUSES);
    for one in rows::of(tx, ws, Id::of(seq), End::Target, Some(TRIGGERS), page)? {
        if reader.relation(tx, ws, &one)? {
            return Ok(Some(one.source.seq()));
        }
    }
    Ok(None)
}

/// What an item led to, each followed by what it led to in turn.
pub fn forwards(tx: &mut ReadTx<'_>, scope: Scope<'_>, from: &Item, most: i64) -> Result<Trace> {
    let (ws, mut reader) = (scope.ws, Reader::new(scope.caller));
    let (mut trace, mut seen) = (Trace::default(), HashSet::from([from.seq]));
    let mut level = vec![from.seq];
    trace.steps.push(Step {
        item: from.clone(),
        depth: 0,
        parent: None,
    });
    for depth in 1.. {
        let mut found = causes::effects(tx, ws, &level)?;
        for (source, target) in causes::said(tx, ws, &level)? {
            if let Some(item) = items::get(tx, ws, target)? {
                found.push((source, item));
            }
        }
        found.sort_by_key(|(_, item)| item.seq);
        level.clear();
        for (parent, item) in found {
            if !reader.item(tx, ws, &item)? {
                continue;
            }
            if !seen.insert(item.seq) {
                trace.cycle = true;
                continue;
            }
            if depth > most || trace.steps.len() >= limits::TRACE_ITEMS {
                trace.more = true;
                break;
            }
            level.push(item.seq);
            trace.steps.push(Step {
                item,
                depth,
                parent: Some(parent),
            });
        }
        if level.is_empty() || trace.more {
            break;
        }
    }
    trace.steps = in_order(trace.steps);
    Ok(trace)
}

/// A tree level by level becomes one branch after the other.
fn in_order(steps: Vec<Step>) -> Vec<Step> {
    let mut children: std::collections::HashMap<Option<Seq>, Vec<Step>> = Default::default();
    for step in steps {
        children.entry(step.parent).or_default().push(step);
    }
    let mut ordered = Vec::new();
    let mut waiting: Vec<Step> = children.remove(&None).unwrap_or_default();
    while let Some(step) = waiting.pop() {
        let below = children.remove(&Some(step.item.seq)).unwrap_or_default();
        waiting.extend(below.into_iter().rev());
        ordered.push(step);
    }
    ordered
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Effects,
    Causes,
    Root,
}

pub fn direction(named: Option<&str>) -> Result<Direction> {
    match named {
        Some("effects") => Ok(Direction::Effects),
        None | Some("causes") => Ok(Direction::Causes),
        Some("root") => Ok(Direction::Root),
        Some(_) => {
            let allowed = ["effects", "causes", "root"];
            Err(
                Fault::invalid("direction", "must be one of effects, causes, root")
                    .detail("field", "direction")
                    .detail("allowed", allowed),
            )
        }
    }
}

/// The answer of `garden_trace`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Traced {
    Steps(Steps),
    Root(Box<Root>),
}

/// What led to an item, or what it led to.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Steps {
    pub steps: Vec<shown::Step>,
    /// Whether the trace came back to a step that it had met.
    pub cycle: bool,
    /// Whether it goes on.
    pub truncated: bool,
}

/// What it all began with.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Root {
    pub root: Option<shown::Step>,
    pub cycle: bool,
    pub truncated: bool,
}

impl Fit for Traced {
    const SHAPE: Shape = Shape::List {
        list: "steps",
        drop: Drop::Last,
    };
}

pub fn trace(
    view: &mut View<'_, '_>,
    scope: Scope<'_>,
    named: &str,
    direction: Direction,
    most: i64,
) -> Result<Traced> {
    let caller = view.caller;
    let (tx, ws) = (&mut *view.tx, view.ws);
    let item = names::item(tx, scope, "item", named)?;
    let trace = match direction {
        Direction::Effects => forwards(tx, scope, &item, most)?,
        // The item itself is zero steps away.
        _ => backwards(tx, scope, item.seq, most.saturating_add(1))?,
    };
    let shapes = Shapes::load(tx, ws, caller, trace.steps.iter().map(|step| &step.item))?;
    let shown = |step: &Step| shown::Step {
        depth: Some(step.depth),
        ..shapes.step(&step.item)
    };
    let (cycle, truncated) = (trace.cycle, trace.more);
    if direction == Direction::Root {
        return Ok(Traced::Root(Box::new(Root {
            root: trace.steps.last().map(shown),
            cycle,
            truncated,
        })));
    }
    let names: std::collections::HashMap<Seq, String> = trace
        .steps
        .iter()
        .map(|step| (step.item.seq, item_name(&step.item.uuid)))
        .collect();
    let steps = trace.steps.iter().map(|step| shown::Step {
        parent: step.parent.and_then(|parent| names.get(&parent).cloned()),
        ..shown(step)
    });
    Ok(Traced::Steps(Steps {
        steps: steps.collect(),
        cycle,
        truncated,
    }))
}
