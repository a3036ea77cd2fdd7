//! `get_record_diff`: a record then, a record now, and what lies between.

use serde_json::{Map, Value, json};
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::merge::unified_diff;
use understory_model::{Caller, Seq, Time};
use understory_storage::activity::{self, Wanted};
use understory_storage::{entities, items, sessions, workspaces};

use super::{event, fields, find, session, shape};
use crate::View;
use crate::core::Thing;
use crate::versions::{self, Version};

/// The word for when this session last saved.
const LAST_SAVE: &str = "last_save";

/// What is compared: moments, or the last save.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    pub from: &'a str,
    pub to: Option<&'a str>,
    pub session: Option<&'a str>,
}

pub fn diff(
    view: &mut View<'_, '_>,
    caller: &Caller,
    handle: &str,
    asked: &Asked<'_>,
    budget: &Budget,
) -> Result<Value> {
    let thing = find(view, handle)?;
    let from = place(view, caller, &thing, "from", asked.from, asked.session)?;
    let to = match asked.to {
        Some(to) => place(view, caller, &thing, "to", to, asked.session)?,
        None => Seq::MAX,
    };
    let old = version(view, &thing, "from", from)?;
    let new = version(view, &thing, "to", to)?;
    let parent = shape::parent(view.tx, view.ws, &thing)?;
    let shown = |version: &Version| {
        let times = (thing.entity.created_at, version.at);
        shape::of(&version.data, handle, parent.as_deref(), times)
    };
    let answer = json!({
        "from_version": shown(&old),
        "to_version": shown(&new),
        "diff": between(&old, &new, handle),
    });
    Ok(fitted(answer, budget))
}

/// What differs; a field that does not is left out.
pub fn between(old: &Version, new: &Version, handle: &str) -> Value {
    let mut diff = Map::new();
    for field in ["title", "summary", "state"] {
        let (before, after) = (
            fields::text(&old.data, field),
            fields::text(&new.data, field),
        );
        if before != after {
            diff.insert(field.into(), json!({ "old": before, "new": after }));
        }
    }
    let (before, after) = (
        fields::text(&old.data, "body"),
        fields::text(&new.data, "body"),
    );
    if before != after {
        let name = |version: &Version| format!("{handle} version {}", version.number);
        diff.insert(
            "body".into(),
            unified_diff(before, after, &name(old), &name(new)).into(),
        );
    }
    Value::Object(diff)
}

/// The place in the log that a moment, or the last save, stands for.
fn place(
    view: &mut View<'_, '_>,
    caller: &Caller,
    thing: &Thing,
    field: &str,
    text: &str,
    named: Option<&str>,
) -> Result<Seq> {
    if text != LAST_SAVE {
        let at = Time::parse(field, text).map_err(|fault| {
            fault.hint("Use RFC 3339, for example 2026-02-17T12:00:00Z, or last_save.")
        })?;
        let end = workspaces::head(view.tx, view.ws, false)?.map_or(0, |head| head.seq);
        return Ok(items::first_at(view.tx, view.ws, Time(at.0.saturating_add(1)), end)? - 1);
    }
    let home = thing.entity.project.unwrap_or_default();
    // A chat has a session in each project that it works in; the record's is meant.
    let name = session::name(caller, named)?;
    let own = entities::by_handle(view.tx, view.ws, &session::handle(home, name))?;
    let own = match own {
        Some(entity) => sessions::get(view.tx, view.ws, entity.id)?,
        None => None,
    };
    if let Some(session) = own.filter(|session| session.saved > 0) {
        return Ok(session.saved);
    }
    // Whoever has not saved yet means what others left saved.
    let kinds = [event::SESSION_SAVED.to_string()];
    let wanted = Wanted {
        project: home,
        target: None,
        kinds: &kinds,
        except: None,
        after: 0,
        before: Seq::MAX,
        most: 1,
    };
    match activity::newest(view.tx, view.ws, &wanted)?.first() {
        Some((_, item)) => Ok(item.seq),
        None => Err(
            Fault::invalid(field, "nothing was saved in this project yet")
                .hint("Give a time such as 2026-02-17T12:00:00Z, or call save_session first."),
        ),
    }
}

fn version(view: &mut View<'_, '_>, thing: &Thing, field: &str, upto: Seq) -> Result<Version> {
    match versions::at(view.tx, view.ws, thing, upto)? {
        Some(version) => Ok(version),
        None => {
            let (handle, made) = (&thing.entity.handle, thing.entity.created_at);
            Err(Fault::invalid(
                field,
                format!("{handle} did not exist yet; it was made at {made}"),
            )
            .details(json!({ "created": made.to_string() }))
            .hint("Give a later time."))
        }
    }
}

/// Bodies go before the difference does: what changed is what was asked for.
fn fitted(mut answer: Value, budget: &Budget) -> Value {
    for version in ["from_version", "to_version"] {
        if budget.holds(&answer) {
            return answer;
        }
        answer["truncated"] = true.into();
        without_body(&mut answer[version]);
    }
    if budget.holds(&answer) {
        return answer;
    }
    without_body(&mut answer["diff"]);
    if budget.holds(&answer) {
        answer
    } else {
        json!({ "truncated": true })
    }
}

/// Leaves a body out and says how long it is.
pub fn without_body(record: &mut Value) {
    if let Some(fields) = record.as_object_mut()
        && let Some(Value::String(body)) = fields.remove("body")
    {
        fields.insert("body_chars".into(), body.chars().count().into());
    }
}
