//! One item of the timeline, opened: what led to it, and what it led to.

use serde::Serialize;
use understory_model::Seq;
use understory_model::error::{Fault, Result};
use understory_storage::items;

use super::Shown;
use super::entries::dressed;
use crate::View;
use crate::garden::timeline::trace::{self, Trace};
use crate::kernel::access;
use crate::kernel::log;

/// Steps to each side, and how many effects are told.
const STEPS: i64 = 6;
const DEEP: i64 = 3;
const EFFECTS: usize = 12;

/// An item with its causes and effects.
#[derive(Debug, Clone, Serialize)]
pub struct Opened {
    #[serde(flatten)]
    pub shown: Shown,
    /// The nearest first.
    pub causes: Vec<Step>,
    pub effects: Vec<Step>,
    /// Whether there are more of either.
    pub more: bool,
}

/// A cause or an effect.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    #[serde(flatten)]
    pub shown: Shown,
    /// How far it is from the item.
    pub depth: i64,
    /// The step from which it was reached.
    pub parent: Seq,
}

/// An item by its place, if there is one that the caller may read.
pub fn opened(view: &mut View<'_, '_>, seq: Seq) -> Result<Opened> {
    let absent = || Fault::not_found(format!("there is no item {seq} that you may read"));
    let item = items::get(view.tx, view.ws, seq)?.ok_or_else(absent)?;
    if !access::may_read_item(view.tx, view.ws, view.caller, &item)? {
        return Err(absent());
    }
    let scope = view.scope(None)?;
    let back = trace::backwards(view.tx, scope, seq, STEPS + 1)?;
    let forth = trace::forwards(view.tx, scope, &item, DEEP)?;
    let more = back.more || forth.more || forth.steps.len() > EFFECTS + 1;
    let own = log::at(view, seq)?.ok_or_else(absent)?;
    let own = dressed(view, vec![own])?.pop().ok_or_else(absent)?;
    Ok(Opened {
        shown: own,
        causes: steps(view, back)?,
        effects: steps(view, forth)?,
        more,
    })
}

/// The steps of a trace but the first, which is the item itself.
fn steps(view: &mut View<'_, '_>, trace: Trace) -> Result<Vec<Step>> {
    let wanted = trace.steps.into_iter().skip(1).take(EFFECTS);
    let wanted: Vec<trace::Step> = wanted.collect();
    let mut entries = Vec::with_capacity(wanted.len());
    for step in &wanted {
        entries.extend(log::at(view, step.item.seq)?);
    }
    let shown = dressed(view, entries)?;
    let steps = shown.into_iter().zip(&wanted).map(|(shown, step)| Step {
        shown,
        depth: step.depth,
        parent: step.parent.unwrap_or_default(),
    });
    Ok(steps.collect())
}
