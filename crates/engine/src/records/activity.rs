//! `get_recent_activity`: what happened in a project, newest first.

use serde_json::{Map, Value, json};
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::item::{EntityDelta, Item};
use understory_model::nearest::nearest;
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Id, Seq, Time};
use understory_storage::activity::{self, Wanted};
use understory_storage::{items, workspaces};

use super::{event, fields, find, project};
use crate::View;
use crate::versions::delta_of;

const CURSOR: &str = "records.activity";

/// What a caller asks for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub since: Option<Time>,
    pub types: Vec<String>,
    pub record: Option<String>,
    pub limit: i64,
    pub cursor: Option<String>,
}

pub fn check_types(types: &[String]) -> Result<()> {
    super::list::check_length("types", types)?;
    for kind in types {
        if !event::ALL.contains(&kind.as_str()) {
            let near = nearest(kind, event::ALL, 1);
            let hint = near.first().map(|near| format!("Did you mean {near}?"));
            let shown: String = kind.chars().take(40).collect();
            let fault = Fault::invalid("types", format!("unknown activity type {shown:?}"))
                .details(json!({ "allowed": event::ALL }));
            return Err(match hint {
                Some(hint) => fault.hint(hint),
                None => fault,
            });
        }
    }
    Ok(())
}

pub fn recent(
    view: &mut View<'_, '_>,
    caller: &Caller,
    named: Option<&str>,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let before = match &asked.cursor {
        Some(cursor) => Cursor::decode(cursor, CURSOR)?.int(0)?,
        None => Seq::MAX,
    };
    let (home, target) = match &asked.record {
        Some(record) => {
            let thing = find(view, record)?;
            project::check_holds(view, named, &thing)?;
            (thing.entity.project, Some(thing.entity.id))
        }
        None => (
            project::find(view, caller, named)?.map(|(home, _)| home.id),
            None,
        ),
    };
    let Some(home) = home else {
        return Ok(json!({ "activity": [] }));
    };
    let after = after(view, asked.since)?;
    let wanted = Wanted {
        project: home,
        target,
        kinds: &asked.types,
        except: None,
        after,
        before,
        most: asked.limit + 1,
    };
    let mut found = activity::newest(view.tx, view.ws, &wanted)?;
    let more = found.len() as i64 > asked.limit;
    found.truncate(usize::try_from(asked.limit).unwrap_or(0));
    let cursors: Vec<String> = found
        .iter()
        .map(|(_, item)| cursor(CURSOR, item.seq))
        .collect();
    let entries: Vec<Value> = found.iter().map(entry).collect::<Result<_>>()?;
    let answer = json!({ "activity": entries });
    Ok(crate::view::page(
        answer,
        "activity",
        (&cursors, more),
        budget,
    ))
}

pub fn cursor(kind: &str, seq: Seq) -> String {
    Cursor::new(kind, vec![Key::Int(seq)]).encode()
}

/// The place after which everything happened at or after a moment.
pub fn after(view: &mut View<'_, '_>, since: Option<Time>) -> Result<Seq> {
    let Some(since) = since else { return Ok(0) };
    let end = workspaces::head(view.tx, view.ws, false)?.map_or(0, |head| head.seq);
    Ok(items::first_at(view.tx, view.ws, since, end)? - 1)
}

/// The newest few of a project.
pub fn newest(view: &mut View<'_, '_>, home: Id, most: i64) -> Result<Vec<Value>> {
    let wanted = Wanted {
        project: home,
        target: None,
        kinds: &[],
        except: None,
        after: 0,
        before: Seq::MAX,
        most,
    };
    activity::newest(view.tx, view.ws, &wanted)?
        .iter()
        .map(entry)
        .collect()
}

fn entry((kind, item): &(String, Item)) -> Result<Value> {
    let delta = delta_of(item)?;
    let mut shown = Map::new();
    shown.insert("timestamp".into(), item.realized_at.to_string().into());
    shown.insert("type".into(), kind.clone().into());
    shown.insert("session_id".into(), item.session.clone().into());
    if let Some(record) = record_of(&delta) {
        shown.insert("record_id".into(), record.into());
    }
    shown.insert("summary".into(), told(kind, &delta).into());
    shown.insert("details".into(), details(item, &delta));
    Ok(Value::Object(shown))
}

fn record_of(delta: &EntityDelta) -> Option<String> {
    if delta.kind == crate::projection::RECORD {
        return Some(delta.handle.clone());
    }
    let about = delta.about.as_ref()?;
    (delta.action != event::BRANCHED).then(|| about.handle.clone())
}

fn details(item: &Item, delta: &EntityDelta) -> Value {
    let mut details = Map::new();
    details.insert("agent".into(), item.actor.clone().into());
    if let Some(tick) = delta.tick {
        details.insert("tick".into(), tick.into());
    }
    if let Some(reason) = &delta.reason {
        details.insert("reason".into(), reason.clone().into());
    }
    if let Some(Value::Object(more)) = &delta.details {
        // What was proposed can be as long as a record; the record's history shows it.
        let more = more.iter().filter(|(name, _)| *name != "proposed");
        details.extend(more.map(|(name, value)| (name.clone(), value.clone())));
    }
    Value::Object(details)
}

/// What happened in a line.
pub fn told(kind: &str, delta: &EntityDelta) -> String {
    let about = record_of(delta).unwrap_or_default();
    let reason = delta.reason.as_deref().unwrap_or_default();
    match kind {
        event::RECORD_CREATED => {
            let title = delta
                .data
                .as_ref()
                .map_or("", |data| fields::text(data, "title"));
            format!("{about} created: {title}")
        }
        event::RECORD_UPDATED => format!("{about} updated: {}", changed_fields(delta).join(", ")),
        event::STATE_TRANSITION => format!("{about} {}", moved(delta)),
        event::ACTIVATION => format!("{about} activated"),
        event::CONFLICT_DETECTED => format!("conflict on {about}"),
        event::CONFLICT_RESOLVED => format!("conflict on {about} overridden"),
        event::SESSION_STARTED if delta.action == event::RESUMED => "session resumed".into(),
        event::SESSION_STARTED => "session started".into(),
        event::SESSION_BRANCHED => {
            let from = delta
                .details
                .as_ref()
                .and_then(|more| more["parent_session"].as_str());
            format!("session branched from {}", from.unwrap_or_default())
        }
        event::SESSION_SAVED if reason.is_empty() => "session saved".into(),
        event::SESSION_SAVED => format!("session saved: {reason}"),
        event::SESSION_CLOSED if delta.action == event::ENDED => "session ended".into(),
        event::SESSION_CLOSED if reason.is_empty() => "session closed".into(),
        event::SESSION_CLOSED => format!("session closed: {reason}"),
        other => other.to_string(),
    }
}

/// The fields that a change touched, each once.
pub fn changed_fields(delta: &EntityDelta) -> Vec<String> {
    let mut names: Vec<String> = delta
        .changes
        .iter()
        .filter_map(|change| change.at.first().cloned())
        .collect();
    names.dedup();
    if delta.place.is_some() {
        names.push("parent_id".into());
    }
    if names.is_empty() {
        names.push("nothing".into());
    }
    names
}

/// A change of state in words.
pub fn moved(delta: &EntityDelta) -> String {
    let side = |field: &str, after: bool| {
        let change = delta
            .changes
            .iter()
            .find(|change| change.field() == field)?;
        let side = if after { &change.after } else { &change.before };
        side.as_ref()?.as_str().map(str::to_string)
    };
    let mut said = format!(
        "{} → {}",
        side("state", false).unwrap_or_default(),
        side("state", true).unwrap_or_default()
    );
    if let Some(by) = side("resolved_by", true) {
        said.push_str(&format!(" by {by}"));
    }
    if let Some(reason) = delta.reason.as_deref().filter(|reason| !reason.is_empty()) {
        said.push_str(&format!(": {reason}"));
    }
    said
}
