//! `activate`: a record with all that is needed to reason on, held by a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{self, Answer, Fit, Shape, Step};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::item::Shown;
use understory_model::record::{RecordState, SessionDetails};
use understory_model::{Id, limits};
use understory_storage::sessions::{self, Session};

use super::context::{Around, Changed, Context, Loaded, change_since};
use super::others::{self, Case, Holder, Moment, Other, contested};
use super::{find_to_change, session};
use crate::Work;
use crate::kernel::content::session_event as event;
use crate::kernel::work::Edit;

/// Sessions that left a record active, of which an answer tells.
const LEFT: usize = 3;

/// What a caller wants.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub override_conflict: bool,
    pub session: Option<String>,
    pub parent_session: Option<String>,
}

/// The answer of `activate`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Activated {
    pub session_id: String,
    /// Whether the session had it active already.
    pub already_loaded: bool,
    /// What changed since the session last saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
    /// The session that has it active too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Contested>,
    /// Sessions that ended or went silent while they had it active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_active_by: Vec<Holder>,
    pub context: Context,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    #[serde(skip)]
    around: Around,
}

/// Another session that has the record active, and what to do.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Contested {
    #[serde(flatten)]
    pub by: Holder,
    pub message: String,
}

/// What to mind before the record is changed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    #[serde(rename = "type")]
    pub kind: WarningType,
    pub message: String,
    pub details: WarningDetails,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WarningType {
    /// Other sessions have it active.
    Conflict,
    /// The session missed many writes.
    Stale,
    /// Its parent was discarded.
    Orphan,
}

/// What goes with the type of a warning.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct WarningDetails {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<Holder>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_gap: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
}

impl Fit for Activated {
    /// What is farthest from the record goes first.
    const SHAPE: Shape = Shape::Steps {
        steps: &[
            Step::Lists(&["/context/grandchildren"]),
            Step::Brief("/context/children/open"),
            Step::Lists(&["/context/children/other"]),
            Step::Lists(&["/context/children/open"]),
            Step::Texts(&["/changed/diff/body", "/context/parent/body"]),
            Step::Values("/changed/diff"),
            Step::Texts(&["/context/target/body"]),
        ],
        rest: &Shape::Fields(&["/session_id", "/already_loaded"]),
    };

    fn shortened(&self) -> Option<Activated> {
        Some(Activated {
            context: self.around.told(&self.context),
            ..self.clone()
        })
    }

    fn brief(&self) -> Result<Vec<Value>> {
        self.around.references()
    }
}

pub fn activate(
    work: &mut Work<'_, '_>,
    handle: &str,
    wanted: &Wanted,
    budget: &Budget,
) -> Result<Answer<Activated>> {
    session::speak(work, wanted.session.as_deref())?;
    let id = find_to_change(work, handle)?;
    let thing = work.thing(id)?.clone();
    let (ws, home) = (work.ws(), thing.entity.project.unwrap_or_default());
    let moment = Moment {
        now: work.now,
        window: work.rules.conflict_window,
    };
    let mut all = others::holders(work.read()?, ws, id, moment, limits::PAGE)?;
    all.retain(|other| other.session.name != work.session);
    let known = match session::current(work, home)? {
        Some(session) => sessions::lease(work.read()?, ws, session.id, id)?,
        None => None,
    };
    let parent = wanted.parent_session.as_deref();
    let session = session::enter(work, home, parent)?;
    let childless = work.record(id)?.is_some_and(|row| row.children == 0);
    let case = Case {
        record: id,
        handed_on: childless && thing.entity.parent.is_some(),
        own: known,
        continued: [parent, session.parent.as_deref()],
    };
    let others = others::contenders(&all, &case);
    let changed = match known {
        Some(known) => change_since(work, &thing, known.seen)?,
        None => None,
    };
    let mut loaded = Loaded::load(work, &thing, &session, budget)?;
    let told: &[Other] = if wanted.override_conflict {
        &[]
    } else {
        &others
    };
    loaded.context.warnings = warnings(work, &session, told, &loaded.context)?;
    let left = all.iter().filter(|other| !other.current).take(LEFT);
    let answer = Activated {
        session_id: session.name.clone(),
        already_loaded: known.is_some(),
        changed,
        conflict: told.first().map(|other| Contested {
            by: other.shown(),
            message: contested(handle, told, work.now),
        }),
        left_active_by: left.map(Other::shown).collect(),
        context: loaded.context,
        truncated: loaded.cut,
        around: loaded.around,
    };
    let answer = answer::fit(answer, budget)?;
    let shown = loaded.held.shown_by(&answer);
    hold(work, &session, id, &others, wanted.override_conflict, shown)?;
    Ok(answer)
}

/// Writes down that the session works on the record, and that others do.
fn hold(
    work: &mut Work<'_, '_>,
    session: &Session,
    id: Id,
    others: &[Other],
    over: bool,
    shown: Shown,
) -> Result<()> {
    let about = work.named(id)?;
    let action = event::ACTIVATED;
    let edit = Edit {
        action,
        about: Some(about.clone()),
        shown: Some(shown),
        ..Edit::default()
    };
    session::change(work, session.id, edit)?;
    if others.is_empty() {
        return Ok(());
    }
    let names = others.iter().map(|other| other.session.name.clone());
    let details = SessionDetails {
        sessions: Some(names.take(10).collect()),
        ..SessionDetails::default()
    };
    let mut note = |action, about| {
        let id = session.id;
        session::note_conflict(work, id, action, about, &details)
    };
    note(event::CONFLICT_DETECTED, about.clone())?;
    if over {
        note(event::CONFLICT_RESOLVED, about)?;
    }
    Ok(())
}

fn warnings(
    work: &mut Work<'_, '_>,
    session: &Session,
    others: &[Other],
    context: &Context,
) -> Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    if !others.is_empty() {
        warnings.push(Warning {
            kind: WarningType::Conflict,
            message: contested(&context.target.id, others, work.now),
            details: WarningDetails {
                sessions: Some(others.iter().take(10).map(Other::shown).collect()),
                ..WarningDetails::default()
            },
        });
    }
    let home = work
        .project_row(session.project)?
        .cloned()
        .unwrap_or_default();
    if session::is_stale(session, &home, work.rules.stale_after) {
        let gap = session.gap(home.tick);
        warnings.push(Warning {
            kind: WarningType::Stale,
            message: format!(
                "{gap} writes occurred since this session's last sync: call sync_session."
            ),
            details: WarningDetails {
                tick_gap: Some(gap),
                ..WarningDetails::default()
            },
        });
    }
    if let Some(parent) = &context.parent
        && parent.state == RecordState::Discarded
    {
        warnings.push(Warning {
            kind: WarningType::Orphan,
            message: format!("{}, its parent, was discarded.", parent.id),
            details: WarningDetails {
                parent_id: Some(parent.id.clone()),
                ..WarningDetails::default()
            },
        });
    }
    Ok(warnings)
}
