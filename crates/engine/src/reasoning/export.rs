//! `branchmind_export`, `tasks_radar` and `tasks_delta`: a graph node as reasoning sees it.

use serde::Serialize;
use serde_json::{Value, json};
use understory_model::budget::{Budget, fit_lists, fit_rows, fit_whole};
use understory_model::error::Result;
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::link::DEPENDS_ON;
use understory_model::{Caller, Seq};
use understory_storage::nodes::{self, Standing};
use understory_storage::ready::{self, Ready};
use understory_storage::{conflicts, entities, items, links};

use super::notes;
use super::place::{self, Kind, Place, Reference};
use crate::View;
use crate::core::Thing;
use crate::log;
use crate::versions::delta_of;

/// Blockers, and nodes to go on with, that a radar names.
const MOST: i64 = 10;

/// Changes that are looked through for the one that ended a node.
const LOOKED_AT: i64 = 50;

/// The end of a node's notes and trace, with what it is.
pub fn export(
    view: &mut View<'_, '_>,
    handle: &str,
    (notes_limit, trace_limit): (i64, i64),
    budget: &Budget,
) -> Result<Value> {
    let reference = place::target(view.tx, view.ws, handle)?;
    let target = brief(view, &reference)?;
    let page = |view: &mut View<'_, '_>, kind: Kind, limit: i64| {
        let place = Place {
            branch: reference.branch.clone(),
            doc: reference.doc(kind),
        };
        let asked = notes::Asked {
            cursor: None,
            limit,
        };
        notes::page(view.tx, view.ws, place, asked)
    };
    let noted = page(view, Kind::Notes, notes_limit)?;
    let traced = page(view, Kind::Trace, trace_limit)?;
    let part = |page: &notes::Page, kind: Kind, budget: &Budget| {
        let place = Place {
            branch: reference.branch.clone(),
            doc: reference.doc(kind),
        };
        page.of(&place, budget)
    };
    let answer = json!({
        "target": target,
        "reasoning_ref": reference.shown(),
        "notes": part(&noted, Kind::Notes, &Budget::unlimited()),
        "trace": part(&traced, Kind::Trace, &Budget::unlimited()),
        "truncated": false,
    });
    if budget.holds(&answer) {
        return Ok(answer);
    }
    // Each gets half of the room, and what the other leaves of its half where that is whole.
    let mut answer = json!({
        "target": target,
        "reasoning_ref": reference.shown(),
        "notes": null,
        "trace": null,
        "truncated": true,
    });
    let half = budget.beside(&answer).half();
    let cut_notes = part(&noted, Kind::Notes, &half);
    if cut_notes["truncated"] == false {
        answer["notes"] = cut_notes;
        answer["trace"] = part(&traced, Kind::Trace, &budget.beside(&answer));
    } else {
        answer["trace"] = part(&traced, Kind::Trace, &half);
        answer["notes"] = match answer["trace"]["truncated"] == false {
            true => part(&noted, Kind::Notes, &budget.beside(&answer)),
            false => cut_notes,
        };
    }
    if budget.holds(&answer) {
        return Ok(answer);
    }
    // Where everything is read from is the last to go.
    answer = json!({ "target": target, "reasoning_ref": reference.shown(), "truncated": true });
    if !budget.holds(&answer) {
        answer = json!({ "reasoning_ref": reference.shown(), "truncated": true });
    }
    Ok(fit_whole(answer, budget))
}

fn brief(view: &mut View<'_, '_>, reference: &Reference) -> Result<Value> {
    let Some(entity) = entities::get(view.tx, view.ws, reference.id)? else {
        return Ok(Value::Null);
    };
    let thing = Thing::open(entity)?;
    let mut brief = json!({
        "id": thing.entity.handle,
        "summary": thing.data.get("summary"),
        "resolved": thing.data.get("resolved"),
        "state": state(view, &thing)?,
        "rev": thing.entity.version,
        "updated_at": thing.entity.updated_at.to_string(),
    });
    if let Some(own) = thing.data.get("state").filter(|own| !own.is_null()) {
        brief["node_state"] = own.clone();
    }
    Ok(brief)
}

/// Where a node stands in its life.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
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

/// Where a node stands: what blocks it, what to do next, where its reasoning is.
pub fn radar(
    view: &mut View<'_, '_>,
    caller: &Caller,
    handle: &str,
    budget: &Budget,
) -> Result<Value> {
    let reference = place::target(view.tx, view.ws, handle)?;
    let target = brief(view, &reference)?;
    let mut blockers = Vec::new();
    for id in links::targets(view.tx, view.ws, reference.id, DEPENDS_ON)? {
        if blockers.len() == MOST as usize {
            break;
        }
        if let Some(entity) = entities::get(view.tx, view.ws, id)? {
            let thing = Thing::open(entity)?;
            if thing.data.get("resolved") != Some(&Value::Bool(true)) {
                blockers.push(line(&thing));
            }
        }
    }
    let next = next(view, caller, reference.id)?;
    let open = conflicts::open_count(view.tx, view.ws, &reference.branch, 1_000)?;
    let mut answer = json!({
        "target": target,
        "blockers": blockers,
        "next": next,
        "open_conflicts": open,
        "reasoning_ref": reference.shown(),
        "truncated": false,
    });
    if fit_lists(&mut answer, &["/blockers", "/next"], budget) {
        return Ok(answer);
    }
    Ok(fit_whole(
        json!({ "reasoning_ref": reference.shown(), "truncated": true }),
        budget,
    ))
}

fn line(thing: &Thing) -> Value {
    json!({ "id": thing.entity.handle, "summary": thing.data.get("summary") })
}

/// The node itself where it can be worked on, else what can be below it.
fn next(view: &mut View<'_, '_>, caller: &Caller, id: i64) -> Result<Vec<Value>> {
    let Some(node) = nodes::get(view.tx, view.ws, id)? else {
        return Ok(Vec::new());
    };
    let mut ids = Vec::new();
    if node.standing == Standing::Ready {
        ids.push(id);
    } else if !node.resolved {
        let ready = Ready {
            project: node.project,
            scope: Some(&node.path),
            keys: &[],
            agent: &caller.agent,
            session: &caller.session,
            ended: &[],
            stale: view.now.minus(view.rules.claim_ttl),
            most: MOST,
        };
        ids = ready::ready(view.tx, view.ws, &ready)?;
    }
    let mut shown = Vec::new();
    for id in ids {
        if let Some(entity) = entities::get(view.tx, view.ws, id)? {
            shown.push(line(&Thing::open(entity)?));
        }
    }
    Ok(shown)
}

/// Changes of graph nodes after a place in the log, in order.
pub fn delta(view: &mut View<'_, '_>, since: Seq, limit: i64, budget: &Budget) -> Result<Value> {
    let mut found =
        items::of_kind_after(view.tx, view.ws, crate::projection::NODE, since, limit + 1)?;
    let more = found.len() as i64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let events = found.iter().map(event).collect::<Result<Vec<Value>>>()?;
    Ok(fit_rows(&events, budget, |kept| {
        let more = more || kept.len() < events.len();
        let last = kept
            .last()
            .map_or(json!(since), |event| event["seq"].clone());
        json!({ "events": kept, "next_since": last, "has_more": more, "truncated": false })
    }))
}

fn event(item: &Item) -> Result<Value> {
    let delta = delta_of(item)?;
    Ok(json!({
        "event_id": item_name(&item.uuid),
        "seq": item.seq,
        "ts": item.realized_at.to_string(),
        "task": delta.handle,
        "action": delta.action,
        "agent": item.actor,
        "summary": log::entry(item, &log::Known::default()).text,
    }))
}
