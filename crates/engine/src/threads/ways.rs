//! The ways to somebody: its sessions, whether each is alive, and how its client can be reached.

use understory_model::error::Result;
use understory_model::thread::{Activity, SessionStatus};
use understory_model::{Time, Ws};
use understory_storage::presence::{self, Presence};
use understory_storage::reach::{self, Reach};
use understory_storage::terminals::{self, Terminal};
use understory_storage::{ReadTx, waits};

use super::ladder::Way;
use super::wait::waits_on;
use crate::View;
use crate::kernel::alive::Alive;
use crate::kernel::signs;

/// Sessions of one agent that are looked at.
const SESSIONS: i64 = 20;

/// The sessions of an agent as a machine sees them: those that a client or a supervisor reported, then
/// those that gave a heartbeat.
pub fn of(tx: &mut ReadTx<'_>, ws: Ws, target: &str, machine: &str, now: Time) -> Result<Vec<Way>> {
    let mut ways = known(tx, ws, target, machine, now)?;
    // Without a server all sessions of a store are on this machine.
    let here = tx.seats().is_some();
    for one in presence::of_agent(tx, ws, target, SESSIONS)? {
        if ways.iter().all(|way| way.session != one.session) {
            ways.push(by_heartbeat(one, here, now));
        }
    }
    Ok(ways)
}

/// The sessions of an agent that their client's hooks or their supervisor reported.
pub fn known(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    target: &str,
    machine: &str,
    now: Time,
) -> Result<Vec<Way>> {
    let alive = Alive::of(tx, ws, now)?;
    let reported = reach::of_agent(tx, ws, target, SESSIONS)?;
    let mut ways: Vec<Way> = reported
        .into_iter()
        .map(|one| by_report(one, &alive, machine))
        .collect();
    for one in terminals::of_agent(tx, ws, target, SESSIONS)? {
        let there = alive.has(&one.session);
        match ways.iter_mut().find(|way| way.session == one.session) {
            Some(way) => way.terminal = there.then_some(one.activity),
            None => {
                let way = in_terminal(one, machine);
                ways.push(Way {
                    alive: there,
                    terminal: way.terminal.filter(|_| there),
                    ..way
                });
            }
        }
    }
    Ok(ways)
}

/// The way to the caller's own session, if it was reported.
pub fn own(view: &mut View<'_, '_>, machine: &str) -> Result<Option<Way>> {
    let session = &view.caller.session;
    let reported = reach::of(view.tx, view.ws, session)?.map(|one| reported(one, machine));
    let terminal = terminals::of(view.tx, view.ws, session)?;
    Ok(match (reported, terminal) {
        (Some(way), terminal) => Some(Way {
            terminal: terminal.map(|one| one.activity),
            ..way
        }),
        (None, terminal) => terminal.map(|one| in_terminal(one, machine)),
    })
}

fn by_report(one: Reach, alive: &Alive, machine: &str) -> Way {
    let alive = alive.has(&one.session);
    Way {
        alive,
        ..reported(one, machine)
    }
}

/// A live session of which only its supervisor knows.
fn in_terminal(one: Terminal, machine: &str) -> Way {
    Way {
        channel: None,
        terminal: Some(one.activity),
        alive: true,
        resumable: false,
        here: one.machine == machine,
        session: one.session,
        client: client(&one.program).to_owned(),
        client_session: String::new(),
        address: String::new(),
        folder: one.folder,
        activity: one.activity,
    }
}

/// A live session as its client reported it.
pub fn reported(one: Reach, machine: &str) -> Way {
    Way {
        channel: Some(one.channel),
        terminal: None,
        alive: true,
        resumable: !one.client_session.is_empty(),
        here: one.machine == machine,
        session: one.session,
        client: client(&one.client).to_owned(),
        client_session: one.client_session,
        address: one.address,
        folder: one.folder,
        activity: one.activity,
    }
}

fn by_heartbeat(one: Presence, here: bool, now: Time) -> Way {
    let status = signs::status(&one, now);
    let alive = match status {
        SessionStatus::Active => true,
        // An idle session that a supervisor can type into is there.
        SessionStatus::Idle => one.managed,
        SessionStatus::Offline => false,
    };
    Way {
        channel: None,
        // A supervisor of another make takes jobs as this one does, and says as little of typing.
        terminal: (alive && one.managed).then_some(Activity::Idle),
        alive,
        resumable: one.resumable,
        here,
        client: client(&one.runtime).to_owned(),
        client_session: one.session.clone(),
        session: one.session,
        address: String::new(),
        folder: String::new(),
        activity: match status {
            SessionStatus::Active => Activity::Busy,
            SessionStatus::Idle | SessionStatus::Offline => Activity::Idle,
        },
    }
}

/// The short name of a client, from what heartbeats call their runtime.
pub fn client(runtime: &str) -> &str {
    match runtime {
        "codex_cli" | "codex-cli" | "codex-mcp-client" => "codex",
        "claude_code" | "claude" => "claude-code",
        "gemini_cli" | "gemini-cli" | "gemini-cli-mcp-client" => "gemini",
        "copilot_cli" | "copilot-cli" => "copilot",
        other => other,
    }
}

/// After which message of a thread the calls of an agent wait, the least of them, and whose call that
/// is; `None` if none does.
pub fn waits_after(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    target: &str,
    thread: &str,
    now: Time,
) -> Result<Option<(i64, String)>> {
    let waiting = waits::of_agent(tx, ws, target, now)?.into_iter();
    let since = waiting.filter_map(|one| Some((waits_on(&one, thread)?, one.session)));
    Ok(since.min())
}
