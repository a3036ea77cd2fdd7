//! `transition`: a record's next state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Id;
use understory_model::answer::json_of;
use understory_model::error::{Code, Fault, Result};
use understory_model::item::LinkChange;
use understory_model::link::RESOLVED_BY;
use understory_model::record::{RecordState, SessionDetails};
use understory_model::text::plural;
use understory_storage::records;

use super::create::settled_by;
use super::seen::{Known, Versions, known};
use super::shape::{Echo, Record, Reference, references};
use super::update::{changed_by, whole};
use super::{fields, find_to_change, session};
use crate::Work;
use crate::kernel::content::{record as stored, session_event as event};
use crate::kernel::work::Edit;

/// Open children that a warning names.
const NAMED: i64 = 100;

/// A change of state that says all that its state requires.
#[derive(Debug, Clone)]
pub struct Transition {
    to: RecordState,
    reason: Option<String>,
    resolved_by: Option<String>,
}

impl Transition {
    pub fn new(
        to: RecordState,
        reason: Option<String>,
        resolved_by: Option<String>,
    ) -> Result<Transition> {
        if let Some(reason) = &reason {
            fields::check_reason(reason)?;
        }
        if to.needs_reason() && fields::is_blank(reason.as_deref()) {
            return Err(Fault::invalid("reason", format!("is required for {to}"))
                .hint("Say why, for those who read it later."));
        }
        if to.needs_resolver() && fields::is_blank(resolved_by.as_deref()) {
            return Err(
                Fault::invalid("resolved_by", format!("is required for {to}"))
                    .hint("Name the record that holds the answer; create it if there is none."),
            );
        }
        fields::check_resolved_by(to, resolved_by.as_deref())?;
        Ok(Transition {
            to,
            reason,
            resolved_by,
        })
    }
}

/// The answer of `transition`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Transitioned {
    pub record: Echo,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cascade_warning: Option<CascadeWarning>,
}

/// Children that stay open: nothing cascades by itself.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CascadeWarning {
    pub open_children: Vec<Reference>,
    pub message: String,
}

/// What became of it. Where another session changed the state that is not an error here, because
/// then the log could not keep that it happened.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Outcome {
    Done(Transitioned),
    Refused { conflict: Box<Refusal> },
}

/// Who changed the state, and the record as it is.
#[derive(Debug, Serialize, Deserialize)]
pub struct Refusal {
    pub message: String,
    pub by: Option<String>,
    pub current: Record,
}

impl Outcome {
    /// The answer, or the error that a refusal stands for.
    pub fn answer(self) -> Result<Transitioned> {
        match self {
            Outcome::Done(done) => Ok(done),
            Outcome::Refused { conflict } => Err(Fault::new(Code::Conflict, conflict.message)
                .detail("current", json_of(&conflict.current)?)
                .detail("by", conflict.by)
                .hint("Sync and resolve: sync_session, or activate it again, then decide anew.")),
        }
    }
}

pub fn transition(
    work: &mut Work<'_, '_>,
    handle: &str,
    wanted: &Transition,
    named: Option<&str>,
    seen: &Versions,
) -> Result<Outcome> {
    session::speak(work, named)?;
    let id = find_to_change(work, handle)?;
    let known = known(work, id, handle, seen)?;
    let session = &known.session;
    let contested = work
        .record(id)?
        .is_some_and(|row| known.is_behind(row.state_changed));
    if contested {
        return refused(work, id, &known, wanted);
    }
    let mut data = stored::opened(work.thing(id)?)?;
    check_allowed(handle, data.state, wanted.to)?;
    let links = resolver(work, id, wanted.resolved_by.as_deref())?;
    data.state = wanted.to;
    data.reason = wanted.reason.clone();
    if fields::is_blank(data.reason.as_deref()) {
        data.reason = None;
    }
    data.resolved_by.clone_from(&wanted.resolved_by);
    let tick = Some(session::next_tick(work, session.project)?);
    let (action, data, reason) = (
        event::TRANSITIONED,
        Some(data.fields()?),
        wanted.reason.clone(),
    );
    work.change(
        id,
        Edit {
            action,
            data,
            links,
            reason,
            tick,
            ..Edit::default()
        },
    )?;
    let record = whole(work, id)?.into();
    let cascade_warning = if wanted.to.is_open() {
        None
    } else {
        open_children(work, id, handle)?
    };
    Ok(Outcome::Done(Transitioned {
        record,
        cascade_warning,
    }))
}

/// Notes the conflict, and tells it.
fn refused(work: &mut Work<'_, '_>, id: Id, known: &Known, wanted: &Transition) -> Result<Outcome> {
    let (about, current) = (work.named(id)?, whole(work, id)?);
    let (message, by) = changed_by(work, id, &about.handle, known)?;
    let details = SessionDetails {
        to_state: Some(wanted.to),
        ..SessionDetails::default()
    };
    let session = known.session.id;
    session::note_conflict(work, session, event::CONFLICT_DETECTED, about, &details)?;
    Ok(Outcome::Refused {
        conflict: Box::new(Refusal {
            message,
            by,
            current,
        }),
    })
}

fn check_allowed(handle: &str, from: RecordState, to: RecordState) -> Result<()> {
    let allowed = from.leads_to();
    if allowed.contains(&to) {
        return Ok(());
    }
    let words: Vec<&str> = allowed.iter().map(|state| state.as_str()).collect();
    let hint = format!("From {from} it can become {}.", words.join(" or "));
    Err(Fault::new(
        Code::InvalidTransition,
        format!("{handle} is {from}, which does not lead to {to}"),
    )
    .detail("from", from.as_str())
    .detail("to", to.as_str())
    .detail("allowed", words)
    .hint(hint))
}

/// What of the link to the record that settled this one changes.
fn resolver(work: &mut Work<'_, '_>, id: Id, by: Option<&str>) -> Result<Vec<LinkChange>> {
    let mut links = Vec::new();
    for old in work.targets(id, RESOLVED_BY)? {
        links.push(LinkChange {
            relation: RESOLVED_BY.to_string(),
            to: work.named(old)?,
            remove: true,
        });
    }
    if let Some(by) = by {
        let home = work.thing(id)?.entity.project.unwrap_or_default();
        links.push(settled_by(work, Some(id), home, by)?);
    }
    Ok(links)
}

/// Tells of children that stay open: nothing cascades by itself.
fn open_children(work: &mut Work<'_, '_>, id: Id, handle: &str) -> Result<Option<CascadeWarning>> {
    let count = work.record(id)?.map_or(0, |row| row.open_children);
    if count == 0 {
        return Ok(None);
    }
    let ws = work.ws();
    let open: Vec<_> = records::children(work.read()?, ws, id, i64::MAX)?
        .into_iter()
        .filter(|row| row.state.is_open())
        .take(NAMED as usize)
        .collect();
    Ok(Some(CascadeWarning {
        open_children: references(&open),
        message: format!(
            "{handle} has {}; a change of its state changes none of them: look at each.",
            plural(count, "open child record")
        ),
    }))
}
