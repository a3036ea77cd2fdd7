//! `get_record_diff`: a record then, a record now, and what lies between.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{Fit, Shape, Step};
use understory_model::error::{Fault, Result};
use understory_model::merge::unified_diff;
use understory_model::record::{ActivityKind, RecordData, RecordState};
use understory_model::{Seq, Time, Ws};
use understory_storage::activity::{self, Wanted};
use understory_storage::{ReadTx, entities, items, sessions, workspaces};

use super::shape::Record;
use super::{find, session};
use crate::View;
use crate::kernel::content::record as stored;
use crate::kernel::core::Thing;
use crate::kernel::versions::{self, Version};

/// The word for when this session last saved.
const LAST_SAVE: &str = "last_save";

/// What is compared: versions, moments, or the last save.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    pub from: &'a str,
    pub to: Option<&'a str>,
    pub session: Option<&'a str>,
}

/// The answer of `get_record_diff`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecordDiff {
    pub from_version: Record,
    pub to_version: Record,
    pub diff: Diff,
}

/// What differs between two versions; a field that does not is absent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Diff {
    /// As a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Sides<Map<String, Value>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<Sides<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Sides<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<Sides<Vec<String>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<Sides<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Sides<RecordState>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Sides<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Sides<String>>,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Sides<String>>,
}

/// A value before and after; null where there was none.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Sides<T> {
    pub old: Option<T>,
    pub new: Option<T>,
}

impl<T: PartialEq> Sides<T> {
    /// Both sides, where they differ.
    fn of(old: impl Into<Option<T>>, new: impl Into<Option<T>>) -> Option<Sides<T>> {
        let (old, new) = (old.into(), new.into());
        (old != new).then_some(Sides { old, new })
    }
}

impl Diff {
    /// The names of the fields that differ, in the order of the alphabet.
    pub fn names(&self) -> Vec<String> {
        let all = [
            ("body", self.body.is_some()),
            ("metadata", self.metadata.is_some()),
            ("parent_id", self.parent_id.is_some()),
            ("reason", self.reason.is_some()),
            ("related", self.related.is_some()),
            ("resolved_by", self.resolved_by.is_some()),
            ("state", self.state.is_some()),
            ("summary", self.summary.is_some()),
            ("title", self.title.is_some()),
            ("type", self.kind.is_some()),
        ];
        let differ = all.into_iter().filter(|(_, differs)| *differs);
        differ.map(|(name, _)| name.to_string()).collect()
    }
}

pub fn diff(view: &mut View<'_, '_>, handle: &str, asked: &Asked<'_>) -> Result<RecordDiff> {
    let thing = find(view, handle)?;
    let own = session::name(view.caller, asked.session)?;
    session::check_own(view.tx, view.ws, view.caller, own)?;
    let old = version(view, &thing, ("from", asked.from), asked.session)?;
    let new = match asked.to {
        Some(to) => version(view, &thing, ("to", to), asked.session)?,
        None => Version::now(&thing),
    };
    let old = Placed::new(view.tx, view.ws, old, handle)?;
    let new = Placed::new(view.tx, view.ws, new, handle)?;
    let diff = between(&old, &new, handle);
    let made = thing.entity.created_at;
    let shown = |placed: Placed| {
        let times = (made, placed.at);
        Record::new(placed.data, handle, placed.parent, times)
    };
    Ok(RecordDiff {
        diff,
        from_version: shown(old),
        to_version: shown(new),
    })
}

/// A version with the handle of what it hung from.
pub struct Placed {
    pub number: i64,
    pub data: RecordData,
    pub parent: Option<String>,
    pub at: Time,
}

impl Placed {
    pub fn new(tx: &mut ReadTx<'_>, ws: Ws, version: Version, handle: &str) -> Result<Placed> {
        let parent = match version.parent {
            Some(parent) => entities::get(tx, ws, parent)?.map(|parent| parent.handle),
            None => None,
        };
        Ok(Placed {
            number: version.number,
            data: stored::read(&version.data, handle)?,
            parent,
            at: version.at,
        })
    }
}

/// What differs between two versions of a record.
pub fn between(before: &Placed, after: &Placed, handle: &str) -> Diff {
    let (old, new) = (&before.data, &after.data);
    let name = |placed: &Placed| format!("{handle} version {}", placed.number);
    let body = || unified_diff(&old.body, &new.body, &name(before), &name(after));
    Diff {
        body: (old.body != new.body).then(body),
        metadata: Sides::of(old.metadata.clone(), new.metadata.clone()),
        parent_id: Sides::of(before.parent.clone(), after.parent.clone()),
        reason: Sides::of(old.reason.clone(), new.reason.clone()),
        related: Sides::of(old.related.clone(), new.related.clone()),
        resolved_by: Sides::of(old.resolved_by.clone(), new.resolved_by.clone()),
        state: Sides::of(old.state, new.state),
        summary: Sides::of(old.summary.clone(), new.summary.clone()),
        title: Sides::of(old.title.clone(), new.title.clone()),
        kind: Sides::of(old.kind.clone(), new.kind.clone()),
    }
}

/// The place in the log that a moment, or the last save, stands for.
fn place(
    view: &mut View<'_, '_>,
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
        let end = workspaces::head(view.tx, view.ws, false)?.map_or(Seq::ZERO, |head| head.seq);
        return Ok(items::first_at(view.tx, view.ws, Time(at.0.saturating_add(1)), end)? - 1);
    }
    let home = thing.entity.project.unwrap_or_default();
    // A chat has a session in each project that it works in; the record's is meant.
    let name = session::name(view.caller, named)?;
    let own = entities::by_handle(view.tx, view.ws, &session::handle(home, name))?;
    let own = match own {
        Some(entity) => sessions::get(view.tx, view.ws, entity.id)?,
        None => None,
    };
    if let Some(session) = own.filter(|session| session.saved > Seq::ZERO) {
        return Ok(session.saved);
    }
    // A session that has not saved yet means what others saved.
    let kinds = [ActivityKind::SessionSaved];
    let wanted = Wanted {
        project: home,
        target: None,
        kinds: &kinds,
        except: None,
        after: Seq::ZERO,
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
    thing: &Thing,
    (field, text): (&str, &str),
    session: Option<&str>,
) -> Result<Version> {
    let handle = &thing.entity.handle;
    if let Ok(number) = text.parse::<i64>() {
        let last = thing.entity.version;
        return versions::numbered(view.tx, view.ws, thing, number)?.ok_or_else(|| {
            Fault::invalid(field, format!("{handle} has versions 1 to {last}"))
                .detail("versions", last)
                .hint("get_record_history shows each version.")
        });
    }
    let upto = place(view, thing, field, text, session)?;
    versions::at(view.tx, view.ws, thing, upto)?.ok_or_else(|| {
        let made = thing.entity.created_at;
        Fault::invalid(
            field,
            format!("{handle} did not exist yet; it was made at {made}"),
        )
        .detail("created", made.to_string())
        .hint("Give a later time.")
    })
}

impl Fit for RecordDiff {
    /// Bodies go before the difference does: what changed is what was asked for.
    const SHAPE: Shape = Shape::Steps {
        steps: &[
            Step::Texts(&["/from_version/body"]),
            Step::Texts(&["/to_version/body"]),
            Step::Texts(&["/diff/body"]),
            Step::Values("/diff"),
        ],
        rest: &Shape::Fields(&[]),
    };
}
