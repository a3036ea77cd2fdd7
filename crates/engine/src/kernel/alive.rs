//! Which sessions are live.

use std::collections::BTreeSet;

use understory_model::error::Result;
use understory_model::thread::SessionStatus;
use understory_model::{Time, Ws};
use understory_storage::presence::{self, Name};
use understory_storage::seats::Taken;
use understory_storage::{ReadTx, workspaces};

/// A session that was silent for this long, in microseconds, is gone.
pub const SILENT: i64 = 90 * 1_000_000;

/// Names that are looked at to see who is there; nobody has more sessions in a year.
pub const NAMES: i64 = 10_000;

/// Whether a session is alive.
pub fn is_live(tx: &mut ReadTx<'_>, ws: Ws, session: &str, now: Time) -> Result<bool> {
    if presence::beat_since(tx, ws, session, now.minus(SILENT))? {
        return Ok(true);
    }
    let Some(seats) = tx.seats() else {
        return Ok(false);
    };
    let workspace = workspaces::name(tx, ws)?;
    Ok(seats.is_taken(&workspace, session))
}

/// Every live session of a workspace, looked at once.
pub struct Alive {
    workspace: String,
    seats: Taken,
    /// Who gave a sign of life: agent and session.
    beats: BTreeSet<(String, String)>,
}

impl Alive {
    pub fn of(tx: &mut ReadTx<'_>, ws: Ws, now: Time) -> Result<Alive> {
        let beats = presence::since(tx, ws, now.minus(SILENT), NAMES)?;
        Ok(Alive {
            workspace: workspaces::name(tx, ws)?,
            seats: tx.seats().map(|seats| seats.taken()).unwrap_or_default(),
            beats: beats
                .into_iter()
                .filter(|one| one.status != SessionStatus::Offline)
                .map(|one| (one.agent, one.session))
                .collect(),
        })
    }

    pub fn has(&self, session: &str) -> bool {
        self.beats.iter().any(|(_, there)| there == session)
            || self.seats.has(&self.workspace, session)
    }

    /// The sessions that have a process here, by the names that they were given.
    pub fn seated(&self, tx: &mut ReadTx<'_>, ws: Ws) -> Result<Vec<Name>> {
        if self.seats.is_empty() {
            return Ok(Vec::new());
        }
        let mut names = presence::names(tx, ws, NAMES)?;
        names.retain(|one| self.seats.has(&self.workspace, &one.session));
        Ok(names)
    }

    /// The agents of all live sessions but one.
    pub(crate) fn agents(
        &self,
        tx: &mut ReadTx<'_>,
        ws: Ws,
        but: &str,
    ) -> Result<BTreeSet<String>> {
        let seated = self.seated(tx, ws)?.into_iter();
        let seated = seated.map(|one| (one.agent, one.session));
        let all = seated.chain(self.beats.iter().cloned());
        Ok(all
            .filter(|(_, session)| session != but)
            .map(|(agent, _)| agent)
            .collect())
    }
}
