//! Which sessions are alive, and which agent each of them is. Claims, conflicts and threads ask
//! here, so that one rule decides what a session that ended may no longer hold.
//!
//! A process has a place beside a SQLite store, which the system gives up for it when it dies. On a
//! server, and for those who have no process of their own, a sign of life counts for a while.

use std::collections::BTreeSet;

use serde_json::Value;
use understory_model::error::Result;
use understory_model::{Caller, Time, Ws};
use understory_storage::presence::{self, Name};
use understory_storage::seats::{Seat, Seats};
use understory_storage::{Tx, nodes, workspaces};

use super::chat;
use crate::kernel::alive::Alive;
use crate::kernel::process::Process;
use crate::kernel::signs::moment;
use crate::records::session;
use crate::{Engine, Request, Resolved};

/// How often a process on a server says that it is there.
pub const BEAT_SECONDS: u64 = 30;

/// A session that did not come back for this long gets a new name.
const FORGOTTEN: i64 = 400 * 24 * 3_600 * 1_000_000;

/// The longest name that is still given a number.
const NUMBERED: usize = 58;

/// Decides which agent a session is, and keeps it. A name that somebody chose stays; a client's
/// name is numbered while another live session has it.
pub(crate) fn settle(
    tx: &mut Tx<'_>,
    ws: Ws,
    caller: &Caller,
    numbered: bool,
    now: Time,
) -> Result<String> {
    let now = moment(tx, ws, now)?;
    let known = presence::name_of(tx, ws, &caller.session)?;
    let agent = if numbered {
        let taken = Alive::of(tx, ws, now)?.agents(tx, ws, &caller.session)?;
        let own = known.map(|known| known.agent);
        own.filter(|agent| !taken.contains(agent))
            .unwrap_or_else(|| free(&caller.agent, &taken))
    } else {
        caller.agent.clone()
    };
    let name = Name {
        session: caller.session.clone(),
        agent: agent.clone(),
        client: caller.agent.clone(),
        project: caller.project.clone(),
        since: now,
    };
    presence::put_name(tx, ws, &name, now.minus(FORGOTTEN))?;
    if tx.seats().is_none() {
        presence::touch(tx, ws, &agent, &caller.session, now)?;
    }
    Ok(agent)
}

fn free(name: &str, taken: &BTreeSet<String>) -> String {
    if !taken.contains(name) {
        return name.to_owned();
    }
    let stem: String = name.chars().take(NUMBERED).collect();
    let numbered = (2..).map(|number: u64| format!("{stem}-{number}"));
    let mut free = numbered.filter(|name| !taken.contains(name));
    free.next().unwrap_or_else(|| name.to_owned())
}

impl Engine {
    /// Takes a place for a process of the caller's session; `None` where the store is a server.
    pub fn appear(&self, caller: &Caller) -> Result<Option<Seat>> {
        let Some(path) = self.store().path() else {
            return Ok(None);
        };
        let workspace = self.workspace(caller)?;
        // A folder that cannot be written only costs being seen.
        Ok(Seats::beside(path)
            .take(workspace.name(), &caller.session)
            .ok())
    }

    /// Says that a session has come, of which client's process, and which agent it is; `None`
    /// before the workspace's first write, which says so itself.
    pub fn arrive(
        &self,
        caller: &Caller,
        numbered: bool,
        process: Option<&Process>,
    ) -> Result<Option<String>> {
        if !self.is_there(caller)? {
            return Ok(None);
        }
        let (one, process) = (caller.clone(), process.cloned());
        self.write_live(caller, move |tx, ws, now| {
            // Two that arrive at once must not both find a name free.
            workspaces::head(tx, ws, true)?;
            if let Some(process) = &process {
                let at = moment(tx, ws, now)?;
                chat::serves(tx, ws, &one.session, process, at)?;
            }
            settle(tx, ws, &one, numbered, now)
        })
        .map(Some)
    }

    /// Which agent a session was when it was last here.
    pub fn known_as(&self, caller: &Caller) -> Result<Option<String>> {
        self.view(caller, |view| {
            let name = presence::name_of(view.tx, view.ws, &caller.session)?;
            Ok(name.map(|name| name.agent))
        })
    }

    /// Notes that the caller's session did something; false where there is no workspace yet.
    pub fn touch(&self, caller: &Caller) -> Result<bool> {
        if !self.is_there(caller)? {
            return Ok(false);
        }
        let (agent, session) = (caller.agent.clone(), caller.session.clone());
        self.write_live(caller, move |tx, ws, now| {
            let at = moment(tx, ws, now)?;
            presence::touch(tx, ws, &agent, &session, at)?;
            Ok(true)
        })
    }

    /// Ends the caller's session, unless another process of it goes on: what it held is released,
    /// and it is gone.
    pub fn leave(&self, caller: &Caller) -> Result<()> {
        self.end(caller, true)
    }

    /// Ends the session of a command, which never was more than the command. What that said of
    /// another life, as a heartbeat does, stands.
    pub fn finish(&self, caller: &Caller) -> Result<()> {
        self.end(caller, false)
    }

    fn end(&self, caller: &Caller, gone: bool) -> Result<()> {
        if !self.is_there(caller)? {
            return Ok(());
        }
        let request = Request {
            tool: "end_session",
            scope: String::new(),
            key: None,
            arguments: Value::Null,
            cause: None,
            project: None,
        };
        self.write(caller, request, move |work| {
            let (ws, own) = (work.ws(), work.session.clone());
            let workspace = workspaces::name(work.read()?, ws)?;
            let seats = work.read()?.seats();
            if seats.is_some_and(|seats| seats.is_taken(&workspace, &own)) {
                return Ok(None);
            }
            if gone {
                work.live().remove_presence(&own)?;
            }
            // A claim is a sign of life where there is no other.
            let (agent, stale) = (&work.caller.agent, work.now.minus(work.rules.claim_ttl));
            let claims = nodes::claimed_by(work.read()?, ws, (agent, &own), stale, 1)?;
            if !claims.is_empty() {
                let now = work.now;
                work.live().end_presence(agent, &own, now)?;
            }
            session::end(work).map(Some)
        })
        .map(drop)
    }

    fn is_there(&self, caller: &Caller) -> Result<bool> {
        Ok(matches!(self.workspace(caller)?, Resolved::There(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_free_number_is_given() {
        let taken = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(free("codex", &taken(&[])), "codex");
        assert_eq!(free("codex", &taken(&["codex"])), "codex-2");
        assert_eq!(free("codex", &taken(&["codex", "codex-2"])), "codex-3");
        assert_eq!(free("codex", &taken(&["codex-2"])), "codex");
        let long = "x".repeat(64);
        assert_eq!(free(&long, &taken(&[&long])).len(), NUMBERED + 2);
    }
}
