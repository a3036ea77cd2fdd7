//! `heartbeat_session`: which of an agent's sessions is alive, and in what it runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::text::check_text;
use understory_model::thread::{Mode, SessionStatus};
use understory_model::{Caller, Time, Ws, limits};
use understory_storage::presence::{self, Presence};
use understory_storage::{Tx, workspaces};

use crate::Engine;

/// A session that gave no sign of life for this long, in microseconds, is not there any more.
const SILENT: i64 = 5 * 60 * 1_000_000;

/// A session that gave none for this long is forgotten: nobody resumes it, and there is one for every
/// chat that an agent ever had.
const FORGOTTEN: i64 = 30 * 24 * 3_600 * 1_000_000;

/// What a session is now: what it last said, unless it has been silent for too long.
pub fn status(one: &Presence, now: Time) -> SessionStatus {
    match one.at < now.minus(SILENT) {
        true => SessionStatus::Offline,
        false => one.status,
    }
}

/// Whether a session can be reached now.
pub fn is_alive(one: &Presence, now: Time) -> bool {
    status(one, now) != SessionStatus::Offline
}

/// A sign of life.
#[derive(Debug, Clone)]
pub struct Beat {
    pub runtime: String,
    pub mode: Mode,
    pub resumable: bool,
    pub status: SessionStatus,
}

pub fn check(beat: &Beat) -> Result<()> {
    check_text("runtime", &beat.runtime, limits::NAME_CHARS, false)
}

/// The moment of something live, as a write would have it: a clock that was set back makes nobody
/// look silent.
pub fn moment(tx: &mut Tx<'_>, ws: Ws, now: Time) -> Result<Time> {
    let head = workspaces::head(tx, ws, false)?;
    Ok(head.map_or(now, |head| now.max(head.at)))
}

/// The answer of `heartbeat_session`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    pub ok: bool,
    /// The time of the newest heartbeat that is known of the session.
    pub recorded_at: Time,
}

/// Notes that the caller's session is alive. No item: what it was a minute ago interests nobody.
pub fn beat(engine: &Engine, caller: &Caller, beat: &Beat) -> Result<Recorded> {
    let one = Presence {
        agent: caller.agent.clone(),
        session: caller.session.clone(),
        runtime: beat.runtime.clone(),
        managed: beat.mode == Mode::Managed,
        resumable: beat.resumable,
        status: beat.status,
        at: Time::ZERO,
    };
    let recorded_at = engine.write_live(caller, move |tx, ws, now| {
        let at = moment(tx, ws, now)?;
        presence::forget(tx, ws, &one.agent, at.minus(FORGOTTEN))?;
        presence::beat(tx, ws, &Presence { at, ..one.clone() })
    })?;
    Ok(Recorded {
        ok: true,
        recorded_at,
    })
}
