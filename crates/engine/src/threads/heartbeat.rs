//! `heartbeat_session`: which of an agent's sessions is alive, and in what it runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::text::check_text;
use understory_model::thread::{Mode, SessionStatus};
use understory_model::{Caller, Time, limits};
use understory_storage::presence::{self, Presence};

use crate::Engine;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::signs::moment;

/// A session that gave none for this long is forgotten: nobody resumes it, and there is one for every
/// chat that an agent ever had.
const FORGOTTEN: i64 = 30 * 24 * 3_600 * 1_000_000;

/// A sign of life.
#[derive(Debug, Clone)]
pub struct Beat {
    pub runtime: String,
    pub mode: Mode,
    pub resumable: bool,
    pub status: SessionStatus,
}

impl Check for Beat {
    fn check(&self) -> Result<()> {
        check_text("runtime", &self.runtime, limits::NAME_CHARS, false)
    }
}

/// The answer of `heartbeat_session`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    pub ok: bool,
    /// The time of the newest heartbeat that is known of the session.
    pub recorded_at: Time,
}

/// Notes that the caller's session is alive. No item: what it was a minute ago interests nobody.
pub fn beat(engine: &Engine, caller: &Caller, beat: &Checked<Beat>) -> Result<Recorded> {
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
