//! `get_record_history`: every change of a record, newest first, and what was proposed and refused.

use serde_json::{Map, Value, json};
use understory_model::Seq;
use understory_model::Time;
use understory_model::budget::{Budget, chars};
use understory_model::error::Result;
use understory_model::item::{EntityDelta, Item};
use understory_model::merge::unified_diff;
use understory_model::page::Cursor;
use understory_storage::activity::{self, Wanted};

use super::activity::{after, changed_fields, cursor, moved};
use super::{event, fields, find};
use crate::View;
use crate::core::Thing;
use crate::versions::{self, delta_of};

const CURSOR: &str = "records.history";

pub fn history(
    view: &mut View<'_, '_>,
    handle: &str,
    since: Option<Time>,
    limit: i64,
    from: Option<&str>,
    budget: &Budget,
) -> Result<Value> {
    let before = match from {
        Some(from) => Cursor::decode(from, CURSOR)?.int(0)?,
        None => Seq::MAX,
    };
    let thing = find(view, handle)?;
    let kinds = event::CHANGES
        .iter()
        .chain(&[event::CONFLICT_DETECTED, event::CONFLICT_RESOLVED])
        .map(ToString::to_string)
        .collect::<Vec<_>>();
    let wanted = Wanted {
        project: thing.entity.project.unwrap_or_default(),
        target: Some(thing.entity.id),
        kinds: &kinds,
        except: None,
        after: after(view, since)?,
        before,
        most: limit + 1,
    };
    let mut found = activity::newest(view.tx, view.ws, &wanted)?;
    let mut more = found.len() as i64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(0));
    let (mut entries, mut cursors) = (Vec::new(), Vec::new());
    let mut size = 0;
    for (kind, item) in &found {
        // What cannot fit any more need not be compared: a diff of long bodies takes its time.
        if size > budget.chars {
            more = true;
            break;
        }
        let entry = entry(view, &thing, kind, item)?;
        size += chars(&entry);
        entries.push(entry);
        cursors.push(cursor(CURSOR, item.seq));
    }
    let answer = json!({ "history": entries });
    Ok(crate::view::page(
        answer,
        "history",
        (&cursors, more),
        budget,
    ))
}

fn entry(view: &mut View<'_, '_>, thing: &Thing, kind: &str, item: &Item) -> Result<Value> {
    let delta = delta_of(item)?;
    let mut shown = Map::new();
    shown.insert("timestamp".into(), item.realized_at.to_string().into());
    shown.insert("session_id".into(), item.session.clone().into());
    shown.insert("agent".into(), item.actor.clone().into());
    shown.insert("change_type".into(), kind.into());
    if event::CHANGES.contains(&kind) {
        shown.insert("version".into(), delta.version.into());
    }
    shown.insert("summary".into(), told(kind, &delta).into());
    if let Some(diff) = body_diff(&delta) {
        shown.insert("diff".into(), diff.into());
    }
    if kind == event::CONFLICT_DETECTED
        && let Some(proposed) = delta.details.as_ref().and_then(|more| more.get("proposed"))
    {
        shown.insert("proposed".into(), proposed.clone());
        if let Some(body) = proposed["body"].as_str() {
            let there = versions::at(view.tx, view.ws, thing, item.seq)?;
            let there = there.map(|version| fields::text(&version.data, "body").to_string());
            let diff = unified_diff(&there.unwrap_or_default(), body, "there", "proposed");
            shown.insert("diff".into(), diff.into());
        }
    }
    Ok(Value::Object(shown))
}

fn told(kind: &str, delta: &EntityDelta) -> String {
    match kind {
        event::RECORD_CREATED => {
            let title = delta
                .data
                .as_ref()
                .map_or("", |data| fields::text(data, "title"));
            format!("created: {title}")
        }
        event::RECORD_UPDATED => format!("changed {}", changed_fields(delta).join(", ")),
        event::STATE_TRANSITION => moved(delta),
        event::CONFLICT_DETECTED => match delta.details.as_ref().map(|more| more.get("proposed")) {
            Some(Some(Value::Object(proposed))) => {
                let names: Vec<&str> = proposed.keys().map(String::as_str).collect();
                format!(
                    "an update of {} met a newer version and was refused",
                    names.join(", ")
                )
            }
            _ => match delta
                .details
                .as_ref()
                .and_then(|more| more["to_state"].as_str())
            {
                Some(state) => format!("a change to {state} met a newer state and was refused"),
                None => "activated while active in another session".into(),
            },
        },
        _ => match delta
            .details
            .as_ref()
            .and_then(|more| more["overrode_version"].as_i64())
        {
            Some(version) => format!("version {version} was overridden"),
            None => "activated in spite of another session".into(),
        },
    }
}

/// What changed in the body, as a unified diff.
fn body_diff(delta: &EntityDelta) -> Option<String> {
    let change = delta
        .changes
        .iter()
        .find(|change| change.field() == "body")?;
    let side = |side: &Option<Value>| {
        let text = side.as_ref().and_then(Value::as_str);
        text.unwrap_or_default().to_string()
    };
    let (old, new) = (delta.version - 1, delta.version);
    let (before, after) = (side(&change.before), side(&change.after));
    let name = |version: i64| format!("{} version {version}", delta.handle);
    Some(unified_diff(&before, &after, &name(old), &name(new)))
}
