//! `tasks_delta`: changes of plans and tasks, in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::Result;
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::{Seq, Time};
use understory_storage::items;

use crate::View;
use crate::kernel::log;
use crate::kernel::versions::delta_of;

/// The answer of `tasks_delta`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Delta {
    /// In the order in which they happened.
    pub events: Vec<Event>,
    /// What to ask for next.
    pub next_since: Seq,
    pub has_more: bool,
    pub truncated: bool,
    /// The place after which changes were asked for.
    #[serde(skip)]
    since: Seq,
}

/// A change of a plan or task.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    pub event_id: String,
    pub seq: Seq,
    pub ts: Time,
    pub task: String,
    pub action: String,
    pub agent: String,
    pub summary: String,
}

impl Fit for Delta {
    const SHAPE: Shape = Shape::Around {
        list: "events",
        drop: Drop::Last,
    };

    fn around(&self, kept: usize) -> Option<Delta> {
        let last = kept.checked_sub(1).and_then(|at| self.events.get(at));
        Some(Delta {
            events: Vec::new(),
            next_since: last.map_or(self.since, |last| last.seq),
            has_more: self.has_more || kept < self.events.len(),
            truncated: self.truncated,
            since: self.since,
        })
    }
}

/// Changes of graph nodes after a place in the log, in order.
pub fn delta(view: &mut View<'_, '_>, since: Seq, limit: i64) -> Result<Delta> {
    let mut found = items::of_kind_after(view.tx, view.ws, crate::kinds::NODE, since, limit + 1)?;
    let has_more = found.len() as i64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let events = found.iter().map(event).collect::<Result<Vec<Event>>>()?;
    Ok(Delta {
        next_since: events.last().map_or(since, |last| last.seq),
        events,
        has_more,
        truncated: false,
        since,
    })
}

fn event(item: &Item) -> Result<Event> {
    let delta = delta_of(item)?;
    Ok(Event {
        event_id: item_name(&item.uuid),
        seq: item.seq,
        ts: item.realized_at,
        task: delta.handle,
        action: delta.action,
        agent: item.actor.clone(),
        summary: log::entry(item, &log::Known::default()).text,
    })
}
