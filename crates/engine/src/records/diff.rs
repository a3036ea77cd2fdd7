//! `get_record_diff`: a record then, a record now, and what lies between.

use serde_json::{Map, Value, json};
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::merge::unified_diff;
use understory_model::{Caller, Seq, Time, Ws};
use understory_storage::activity::{self, Wanted};
use understory_storage::{Tx, entities, items, sessions, workspaces};

use super::{event, fields, find, session, shape};
use crate::View;
use crate::core::Thing;
use crate::versions::{self, Version};

/// The word for when this session last saved.
const LAST_SAVE: &str = "last_save";

/// What is compared beside the body.
const FIELDS: [&str; 9] = [
    "title",
    "summary",
    "type",
    "state",
    "reason",
    "resolved_by",
    "parent_id",
    "related",
    "metadata",
];

/// What is compared: versions, moments, or the last save.
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
    session::check_own(
        view.tx,
        view.ws,
        caller,
        session::name(caller, asked.session)?,
    )?;
    let old = version(view, caller, &thing, ("from", asked.from), asked.session)?;
    let new = match asked.to {
        Some(to) => version(view, caller, &thing, ("to", to), asked.session)?,
        None => Version::now(&thing),
    };
    let (old, new) = (
        Placed::new(view.tx, view.ws, old)?,
        Placed::new(view.tx, view.ws, new)?,
    );
    let shown = |placed: &Placed| {
        let times = (thing.entity.created_at, placed.version.at);
        shape::of(
            &placed.version.data,
            handle,
            placed.parent.as_deref(),
            times,
        )
    };
    let answer = json!({
        "from_version": shown(&old),
        "to_version": shown(&new),
        "diff": between(&old, &new, handle),
    });
    Ok(fitted(answer, budget))
}

/// A version with the handle of what it hung from.
pub struct Placed {
    pub version: Version,
    pub parent: Option<String>,
}

impl Placed {
    pub fn new(tx: &mut Tx<'_>, ws: Ws, version: Version) -> Result<Placed> {
        let parent = match version.parent {
            Some(parent) => entities::get(tx, ws, parent)?.map(|parent| parent.handle),
            None => None,
        };
        Ok(Placed { version, parent })
    }

    /// What is compared as it is; a body is compared by lines.
    fn values(&self) -> Map<String, Value> {
        let mut values = self.version.data.clone();
        values.remove("body");
        values.insert("parent_id".into(), self.parent.clone().into());
        values
    }
}

/// What differs; a field that does not is left out.
pub fn between(old: &Placed, new: &Placed, handle: &str) -> Value {
    let mut diff = Map::new();
    let (before, after) = (old.values(), new.values());
    for field in FIELDS {
        let (before, after) = (before.get(field), after.get(field));
        if before != after {
            diff.insert(field.into(), json!({ "old": before, "new": after }));
        }
    }
    let body = |placed: &Placed| fields::text(&placed.version.data, "body").to_string();
    let (before, after) = (body(old), body(new));
    if before != after {
        let name = |placed: &Placed| format!("{handle} version {}", placed.version.number);
        diff.insert(
            "body".into(),
            unified_diff(&before, &after, &name(old), &name(new)).into(),
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
            fault.hint(
                "Use RFC 3339, for example 2026-02-17T12:00:00Z, a version number, or last_save.",
            )
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

/// The version that a number, a moment or the last save stands for.
fn version(
    view: &mut View<'_, '_>,
    caller: &Caller,
    thing: &Thing,
    (field, text): (&str, &str),
    session: Option<&str>,
) -> Result<Version> {
    let handle = &thing.entity.handle;
    if let Ok(number) = text.parse::<i64>() {
        let last = thing.entity.version;
        return versions::numbered(view.tx, view.ws, thing, number)?.ok_or_else(|| {
            Fault::invalid(field, format!("{handle} has versions 1 to {last}"))
                .details(json!({ "versions": last }))
                .hint("get_record_history shows each version.")
        });
    }
    let upto = place(view, caller, thing, field, text, session)?;
    versions::at(view.tx, view.ws, thing, upto)?.ok_or_else(|| {
        let made = thing.entity.created_at;
        Fault::invalid(
            field,
            format!("{handle} did not exist yet; it was made at {made}"),
        )
        .details(json!({ "created": made.to_string() }))
        .hint("Give a later time.")
    })
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
        return answer;
    }
    only_names(&mut answer["diff"]);
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

/// Of a difference that is too long, the names of the fields that differ.
pub fn only_names(diff: &mut Value) {
    *diff = json!({ "fields": names(diff) });
}

/// The fields in which a difference lies.
pub fn names(diff: &Value) -> Vec<String> {
    let fields = diff.as_object().into_iter().flatten();
    fields
        .map(|(name, _)| match name.as_str() {
            "body_chars" => "body".to_string(),
            name => name.to_string(),
        })
        .collect()
}
