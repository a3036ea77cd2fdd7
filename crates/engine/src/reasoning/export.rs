//! `branchmind_export`, `tasks_radar` and `tasks_delta`: a graph node as reasoning sees it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{self, Answer, Fit, Shape, json_of};
use understory_model::budget::{Budget, Drop, fit_lists, fit_whole};
use understory_model::error::Result;
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::link::DEPENDS_ON;
use understory_model::{Id, Seq, Time};
use understory_storage::nodes::{self, Standing};
use understory_storage::ready::{self, Ready};
use understory_storage::{conflicts, entities, items, links};

use super::notes::{self, Page};
use super::place::{self, Documents, Kind, Place, Reference};
use super::shape::{Asked, Entry};
use crate::View;
use crate::core::Thing;
use crate::graph::fields;
use crate::graph::shape::{Brief, briefs};
use crate::log;
use crate::versions::delta_of;
use crate::view::{Sought, no_such};

/// Blockers, and nodes to go on with, that a radar names.
const NAMED: i64 = 10;

/// Changes that are looked through for the one that ended a node.
const LOOKED_AT: i64 = 50;

/// The answer of `branchmind_export`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Export {
    pub target: Target,
    pub reasoning_ref: Documents,
    pub notes: Page<Entry>,
    pub trace: Page<Entry>,
    pub truncated: bool,
}

/// A plan or task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    pub id: String,
    pub summary: String,
    pub resolved: bool,
    pub state: State,
    pub rev: i64,
    pub updated_at: Time,
    /// The state that its owner defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_state: Option<Value>,
}

/// An export of which the pages are cut, or yet to be filled in.
#[derive(Serialize)]
struct Cut<'a> {
    target: &'a Target,
    reasoning_ref: &'a Documents,
    notes: Option<Answer<Page<Entry>>>,
    trace: Option<Answer<Page<Entry>>>,
    truncated: bool,
}

/// Where everything is read from: the last to go.
#[derive(Serialize)]
struct Where<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a Target>,
    reasoning_ref: &'a Documents,
    truncated: bool,
}

impl Fit for Export {
    const SHAPE: Shape = Shape::Own;

    fn shorten(&self, _: Value, budget: &Budget) -> Result<Value> {
        let mut cut = Cut {
            target: &self.target,
            reasoning_ref: &self.reasoning_ref,
            notes: None,
            trace: None,
            truncated: true,
        };
        // Each gets half of the room, and what the other leaves of its half where that is whole.
        let beside = |cut: &Cut<'_>| Ok(budget.beside(&json_of(cut)?));
        let half = beside(&cut)?.half();
        let notes = answer::fit(self.notes.clone(), &half)?;
        if matches!(notes, Answer::Whole(_)) {
            cut.notes = Some(notes);
            cut.trace = Some(answer::fit(self.trace.clone(), &beside(&cut)?)?);
        } else {
            let trace = answer::fit(self.trace.clone(), &half)?;
            let whole = matches!(trace, Answer::Whole(_));
            cut.trace = Some(trace);
            cut.notes = Some(match whole {
                true => answer::fit(self.notes.clone(), &beside(&cut)?)?,
                false => notes,
            });
        }
        let json = json_of(&cut)?;
        if budget.holds(&json) {
            return Ok(json);
        }
        let mut rest = Where {
            target: Some(&self.target),
            reasoning_ref: &self.reasoning_ref,
            truncated: true,
        };
        if !budget.holds_serialized(&rest) {
            rest.target = None;
        }
        Ok(fit_whole(json_of(&rest)?, budget))
    }
}

/// The end of a node's notes and trace, with what it is.
pub fn export(
    view: &mut View<'_, '_>,
    handle: &str,
    (notes_limit, trace_limit): (i64, i64),
) -> Result<Export> {
    let reference = place::target(view.tx, view.ws, handle)?;
    let target = brief(view, &reference)?;
    let mut page = |kind: Kind, limit: i64| {
        let place = Place {
            branch: reference.branch.clone(),
            doc: reference.doc(kind),
        };
        let asked = Asked {
            cursor: None,
            limit,
        };
        notes::show(view.tx, view.ws, place, asked)
    };
    Ok(Export {
        target,
        notes: page(Kind::Notes, notes_limit)?,
        trace: page(Kind::Trace, trace_limit)?,
        reasoning_ref: reference.shown(),
        truncated: false,
    })
}

fn brief(view: &mut View<'_, '_>, reference: &Reference) -> Result<Target> {
    let Some(entity) = entities::get(view.tx, view.ws, reference.id)? else {
        return Err(no_such(view.tx, view.ws, Sought::Node, &reference.handle)?);
    };
    let thing = Thing::open(entity)?;
    let own = thing.data.get("state").filter(|own| !own.is_null());
    Ok(Target {
        summary: fields::summary(&thing.data).to_string(),
        resolved: fields::resolved(&thing.data),
        state: state(view, &thing)?,
        rev: thing.entity.version,
        updated_at: thing.entity.updated_at,
        node_state: own.cloned(),
        id: thing.entity.handle,
    })
}

/// Where a node stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Open,
    Blocked,
    Resolved,
    Dropped,
    Merged,
}

fn state(view: &mut View<'_, '_>, thing: &Thing) -> Result<State> {
    let id = thing.entity.id;
    if thing.entity.gone {
        return Ok(State::Merged);
    }
    let node = nodes::get(view.tx, view.ws, id)?;
    Ok(match node {
        Some(node) if node.resolved => match ended_by(view, id)?.as_deref() {
            Some("dropped") => State::Dropped,
            _ => State::Resolved,
        },
        Some(node) if node.open_deps > 0 => State::Blocked,
        _ => State::Open,
    })
}

/// What resolved a node: the last of its changes that can.
fn ended_by(view: &mut View<'_, '_>, id: i64) -> Result<Option<String>> {
    for item in items::of_entity(view.tx, view.ws, id, Seq::MAX, LOOKED_AT)? {
        let action = delta_of(&item)?.action;
        if ["dropped", "resolved"].contains(&action.as_str()) {
            return Ok(Some(action));
        }
    }
    Ok(None)
}

/// The answer of `tasks_radar`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Radar {
    pub target: Target,
    /// What it waits for.
    pub blockers: Vec<Brief>,
    /// What can be worked on: the task itself, or what is below it.
    pub next: Vec<Brief>,
    /// Conflicts of merges into its branch.
    pub open_conflicts: i64,
    pub reasoning_ref: Documents,
    pub truncated: bool,
}

impl Fit for Radar {
    const SHAPE: Shape = Shape::Own;

    fn shorten(&self, mut json: Value, budget: &Budget) -> Result<Value> {
        if fit_lists(&mut json, &["/blockers", "/next"], budget) {
            return Ok(json);
        }
        let rest = Where {
            target: None,
            reasoning_ref: &self.reasoning_ref,
            truncated: true,
        };
        Ok(fit_whole(json_of(&rest)?, budget))
    }
}

/// Where a node stands: what blocks it, what to do next, where its reasoning is.
pub fn radar(view: &mut View<'_, '_>, handle: &str) -> Result<Radar> {
    let reference = place::target(view.tx, view.ws, handle)?;
    let target = brief(view, &reference)?;
    let mut blockers = Vec::new();
    for id in links::targets(view.tx, view.ws, reference.id, DEPENDS_ON)? {
        if blockers.len() == NAMED as usize {
            break;
        }
        if let Some(entity) = entities::get(view.tx, view.ws, id)?
            && !fields::resolved(&Thing::open(entity)?.data)
        {
            blockers.push(id);
        }
    }
    let next = next(view, reference.id)?;
    Ok(Radar {
        target,
        blockers: briefs(view.tx, view.ws, &blockers)?,
        next: briefs(view.tx, view.ws, &next)?,
        open_conflicts: conflicts::open_count(view.tx, view.ws, &reference.branch, 1_000)?,
        reasoning_ref: reference.shown(),
        truncated: false,
    })
}

/// The node itself where it can be worked on, else what can be below it.
fn next(view: &mut View<'_, '_>, id: Id) -> Result<Vec<Id>> {
    let Some(node) = nodes::get(view.tx, view.ws, id)? else {
        return Ok(Vec::new());
    };
    if node.standing == Standing::Ready {
        return Ok(vec![id]);
    }
    if node.resolved {
        return Ok(Vec::new());
    }
    let ready = Ready {
        project: node.project,
        scope: Some(&node.path),
        keys: &[],
        agent: &view.caller.agent,
        session: &view.caller.session,
        ended: &[],
        stale: view.now.minus(view.rules.claim_ttl),
        most: NAMED,
    };
    ready::ready(view.tx, view.ws, &ready)
}

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
    let mut found =
        items::of_kind_after(view.tx, view.ws, crate::projection::NODE, since, limit + 1)?;
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
