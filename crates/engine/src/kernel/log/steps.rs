//! What one agent or person did, step by step, with the lines of the document that a step was about: for
//! those who follow it, or retrace it afterwards.
//!
//! It shows what the agent told the store. What it read elsewhere, nobody knows here.

use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::lines::{parse, places};
use understory_model::{Seq, Time};
use understory_storage::{items, timeline};

use super::{Entry, Known, audit, end, entry, fold};
use crate::View;
use crate::kernel::access::Reader;
use crate::kernel::content;
use crate::kernel::content::artifact_delta::Delta;
use crate::kernel::content::call::{Call, Operation};
use crate::kinds::ItemKind;

/// Ranges of lines that a step names; a commit can change more.
const RANGES: usize = 50;
/// Items that one answer looks through at most, for one of an agent whose items are mostly others' secrets.
const LOOKED_AT: i64 = 2_000;
/// Items that are looked at together at least: not every item is a step.
const AT_ONCE: i64 = 50;

/// Which steps.
#[derive(Debug, Clone)]
pub struct Wanted<'w> {
    pub actor: &'w str,
    /// From this item on, and before that.
    pub from: Seq,
    pub before: Seq,
    pub most: usize,
}

/// A step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Step {
    #[serde(flatten)]
    pub entry: Entry,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<Look>,
    /// What it noted, sought or proposed, whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// What was done with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Does {
    Looks,
    Selects,
    Seeks,
    Proposes,
    Changes,
}

/// Lines of a document as it was when somebody looked at them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    pub does: Does,
    /// `entity_<uuid>`.
    pub artifact: String,
    /// As it was called then.
    pub label: String,
    /// The commit in which lines have these numbers; none before the first.
    pub commit: Option<String>,
    /// First and last lines, from 1, in their order.
    pub lines: Vec<(i64, i64)>,
}

/// The newest steps of a stretch, newest first.
pub fn steps(view: &mut View<'_, '_>, wanted: &Wanted<'_>) -> Result<Vec<Step>> {
    let mut before = wanted.before;
    let mut reader = Reader::new(view.caller);
    let (mut found, mut looked_at) = (Vec::new(), 0);
    while found.len() < wanted.most && looked_at < LOOKED_AT {
        let batch = timeline::newest(
            view.tx,
            view.ws,
            &timeline::Wanted {
                kind: None,
                actor: Some(wanted.actor),
                log: None,
                entity: None,
                project: None,
                from: wanted.from,
                before,
                most: (wanted.most as i64).max(AT_ONCE),
            },
        )?;
        let Some(last) = batch.last() else { break };
        (before, looked_at) = (last.seq, looked_at + batch.len() as i64);
        let mut kept = Vec::with_capacity(batch.len());
        for item in fold::folded(&batch, false) {
            if is_step(item) && reader.item(view.tx, view.ws, item)? {
                kept.push(item);
            }
        }
        let known = Known::of(view.tx, view.ws, &kept)?;
        found.extend(kept.into_iter().map(|item| step(item, &known)));
    }
    found.truncate(wanted.most);
    Ok(found)
}

/// The place of the first item at or after a moment.
pub fn place_at(view: &mut View<'_, '_>, at: Time) -> Result<Seq> {
    let end = end(view)?;
    items::first_at(view.tx, view.ws, at, end)
}

/// What somebody did itself; that it moved, was told something or logged in is no step.
fn is_step(item: &Item) -> bool {
    !audit::is_audit(&item.kind)
        && !matches!(
            ItemKind::of(&item.kind),
            ItemKind::ChangesAck | ItemKind::FrameMoved | ItemKind::SystemEvent
        )
}

fn step(item: &Item, known: &Known) -> Step {
    let entry = entry(item, known);
    let said = content::content(item);
    let (look, said) = match (ItemKind::of(&item.kind), &said) {
        (ItemKind::ToolCall, Some(said)) => {
            let call = Call::of(&said.fields).filter(|_| !said.undone);
            call.map_or((None, None), |call| (of_call(&call), call.said()))
        }
        (ItemKind::ArtifactDelta, Some(said)) => (Delta::said(said).map(of_commit), None),
        _ => (None, None),
    };
    Step { entry, look, said }
}

fn of_call(call: &Call<'_>) -> Option<Look> {
    let does = match call.operation {
        Operation::Search => Does::Seeks,
        Operation::ScrollTo | Operation::ScrollUp | Operation::ScrollDown => Does::Looks,
        Operation::Select => Does::Selects,
        Operation::Propose => Does::Proposes,
        Operation::Note | Operation::Decide => return None,
    };
    let (artifact, label) = call.document()?;
    let mut lines = match does {
        Does::Seeks => call.matches(),
        _ => call.lines().into_iter().collect(),
    };
    lines.sort_unstable();
    lines.truncate(RANGES);
    Some(Look {
        does,
        artifact,
        label,
        commit: call.commit(),
        lines,
    })
}

/// The lines that a commit brought, as they are numbered after it.
fn of_commit(delta: Delta) -> Look {
    let mut brought = places(&parse(&delta.ops).unwrap_or_default());
    brought.sort_unstable();
    let mut lines: Vec<(i64, i64)> = Vec::new();
    for line in brought {
        let line = line as i64;
        match lines.last_mut() {
            Some((_, last)) if *last + 1 >= line => *last = line,
            _ => lines.push((line, line)),
        }
    }
    lines.truncate(RANGES);
    Look {
        does: Does::Changes,
        artifact: delta.artifact_uuid,
        label: delta.label,
        commit: Some(delta.commit),
        lines,
    }
}
