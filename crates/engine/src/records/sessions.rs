//! `get_active_sessions`: who works on a record, or who is here at all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::Result;
use understory_model::{Seq, Time, limits};
use understory_storage::items;

use super::others::{Holder, Moment, Other, holders};
use super::{find, session};
use crate::View;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::who::{self, check_agent};

/// The answer of `get_active_sessions`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ActiveSessions {
    pub sessions: Vec<ActiveSession>,
    /// Those that have the record active and are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Holder>,
}

/// A session that has the record active, or one that is here at all.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ActiveSession {
    OnRecord(OnRecord),
    Here(Box<who::Seen>),
}

/// A session that has a record active.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct OnRecord {
    #[serde(flatten)]
    pub holder: Holder,
    pub created: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    pub is_current: bool,
    /// Since when it has it active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Whether it went on in spite of others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_spite_of_others: bool,
}

impl Fit for ActiveSessions {
    const SHAPE: Shape = Shape::List {
        list: "sessions",
        drop: Drop::Last,
    };
}

/// Who works on a record, and who did and left.
pub fn working_on(
    view: &mut View<'_, '_>,
    named: Option<&str>,
    record: &str,
) -> Result<ActiveSessions> {
    let own = session::name(view.caller, named)?;
    session::check_own(view.tx, view.ws, view.caller, own)?;
    let thing = find(view, record)?;
    let moment = Moment {
        now: view.now,
        window: view.rules.conflict_window,
    };
    let all = holders(
        view.tx,
        view.ws,
        thing.entity.id,
        moment,
        limits::SESSION_RECORDS,
    )?;
    let (here, left): (Vec<&Other>, Vec<&Other>) = all
        .iter()
        .partition(|other| other.current || other.session.name == own);
    let since: Vec<Seq> = here.iter().map(|other| other.lease.since).collect();
    let since = items::times(view.tx, view.ws, &since)?;
    let shown = |other: &Other| {
        ActiveSession::OnRecord(OnRecord {
            holder: other.shown(),
            created: other.session.created,
            parent_session: other.session.parent.clone(),
            is_current: other.session.name == own,
            since: since.get(&other.lease.since).copied(),
            in_spite_of_others: other.lease.overrode > Seq::ZERO,
        })
    };
    Ok(ActiveSessions {
        sessions: here.into_iter().map(shown).collect(),
        left: left.into_iter().map(Other::shown).collect(),
    })
}

/// Whose sessions are asked for: everybody's, unless an agent is named.
#[derive(Debug, Clone, Default)]
pub struct Of {
    pub agent: Option<String>,
}

impl Check for Of {
    fn check(&self) -> Result<()> {
        match &self.agent {
            Some(agent) => check_agent("agent", agent),
            None => Ok(()),
        }
    }
}

/// Everybody who is here; of one agent, all its sessions.
pub fn here(view: &mut View<'_, '_>, of: &Checked<Of>) -> Result<ActiveSessions> {
    let agent = of.agent.as_deref();
    let caller = view.caller;
    let sessions = who::here(view, caller, agent)?.into_iter();
    Ok(ActiveSessions {
        sessions: sessions
            .map(|seen| ActiveSession::Here(Box::new(seen)))
            .collect(),
        left: Vec::new(),
    })
}
