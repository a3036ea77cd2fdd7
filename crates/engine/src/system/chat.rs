//! The chat that a hook of a client speaks for: the session and the agent that the MCP process of the
//! same chat is.
//!
//! A client names the chat to its hooks, but the MCP process may have another name for it: it keeps
//! the name with which it was started when the client begins a new chat, and some clients tell it
//! none. Both are children of the client's process, so that process says which session is meant.

use understory_model::error::Result;
use understory_model::thread::Activity;
use understory_model::{Caller, Time, Via, Ws};
use understory_storage::processes::{self, Served};
use understory_storage::reach::{self, Reach};
use understory_storage::{ReadTx, Tx, presence, workspaces};

use super::presence::settle;
use crate::kernel::alive::is_live;
use crate::kernel::meaning::Kept;
use crate::kernel::process::Process;
use crate::kernel::signs::moment;
use crate::kernel::workspace;
use crate::{Engine, Resolved, View};

/// Sessions of one process that are looked at; no client has more chats open.
const SESSIONS: i64 = 50;
/// How long is kept what a process had, in microseconds.
const FORGOTTEN: i64 = 30 * 24 * 3_600 * 1_000_000;

/// Whether a hook only goes on with a chat, or says that one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comes {
    Arriving,
    GoingOn,
}

impl Engine {
    /// Runs a rule of a hook in one transaction that writes only what is live, as the session that
    /// the client's chat has here; `None` where there is no workspace, for no hook makes one. The
    /// rule may run more than once.
    ///
    /// The process is given where it has one chat at a time, and then decides which session it is.
    pub fn hooked<T, F>(
        &self,
        caller: &Caller,
        process: Option<&Process>,
        comes: Comes,
        rule: F,
    ) -> Result<Option<T>>
    where
        T: Send + 'static,
        F: Fn(&mut View<'_, '_>) -> Result<T> + Send + 'static,
    {
        crate::may_write(caller)?;
        if !matches!(self.workspace(caller)?, Resolved::There(_)) {
            return Ok(None);
        }
        let (options, lane) = (self.options.clone(), caller.workspace.clone());
        let (caller, process) = (caller.clone(), process.cloned());
        self.store().write(&lane, move |tx| {
            let Resolved::There(found) = workspace::resolve(tx, &caller)? else {
                return Ok(None);
            };
            let ws = found.ws;
            let now = moment(tx, ws, options.clock.now())?;
            let speaker = speaker(tx, ws, &caller, process.as_ref(), (comes, now))?;
            let mut view = View {
                tx,
                ws,
                name: &found.name,
                caller: &speaker,
                project: &speaker.project,
                now,
                rules: options.rules(),
                vectors: &Kept::default(),
            };
            rule(&mut view).map(Some)
        })
    }

    /// The session that hooks of a client's process speak for and that no MCP process serves yet.
    pub fn awaited(&self, caller: &Caller, process: &Process) -> Result<Option<String>> {
        self.view(caller, |view| {
            let (tx, ws) = (&mut *view.tx, view.ws);
            let served = served(tx, ws, process)?;
            let known = reached(tx, ws, process)?;
            let mut free = known.into_iter().map(|one| one.session);
            Ok(free.find(|session| !served.contains(session)))
        })
    }
}

/// Who a hook speaks for.
fn speaker(
    tx: &mut Tx<'_>,
    ws: Ws,
    caller: &Caller,
    process: Option<&Process>,
    (comes, now): (Comes, Time),
) -> Result<Caller> {
    let mut one = caller.clone();
    if let Some(process) = process
        && let Some(session) = session_of(tx, ws, &one.session, process, now)?
    {
        one.session = session;
    }
    let known = presence::name_of(tx, ws, &one.session)?;
    one.agent = match (known, comes) {
        (Some(name), Comes::GoingOn) => name.agent,
        _ => {
            // Two that arrive at once must not both find a name free.
            workspaces::head(tx, ws, true)?;
            let agent = settle(tx, ws, &one, one.via == Via::Arriving, now)?;
            // The name is the chat's until its MCP process arrives and has a place of its own.
            presence::touch(tx, ws, &agent, &one.session, now)?;
            agent
        }
    };
    one.via = Via::Local;
    Ok(one)
}

/// The session of a process, where that is not the chat that its client names.
fn session_of(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    named: &str,
    process: &Process,
    now: Time,
) -> Result<Option<String>> {
    let mut live = Vec::new();
    for session in served(tx, ws, process)? {
        if session == named {
            return Ok(None);
        }
        if is_live(tx, ws, &session, now)? {
            live.push(session);
        }
    }
    // Several that one process started without naming chats cannot be told apart.
    if live.len() == 1 {
        return Ok(live.pop());
    }
    let known = reached(tx, ws, process)?;
    Ok(known.into_iter().map(|one| one.session).next())
}

fn served(tx: &mut ReadTx<'_>, ws: Ws, process: &Process) -> Result<Vec<String>> {
    let Process {
        machine,
        id,
        started,
    } = process;
    processes::served(tx, ws, machine, (*id, *started), SESSIONS)
}

fn reached(tx: &mut ReadTx<'_>, ws: Ws, process: &Process) -> Result<Vec<Reach>> {
    let Process {
        machine,
        id,
        started,
    } = process;
    reach::of_process(tx, ws, machine, (*id, *started), SESSIONS)
}

/// Notes that an MCP process which a client's process started serves a session.
pub(crate) fn serves(
    tx: &mut Tx<'_>,
    ws: Ws,
    session: &str,
    process: &Process,
    now: Time,
) -> Result<()> {
    let one = Served {
        machine: process.machine.clone(),
        process: process.id,
        started: process.started,
        session: session.to_owned(),
        at: now,
    };
    processes::put(tx, ws, &one, now.minus(FORGOTTEN))
}

/// Notes how the speaker's session can be reached, and forgets those that were long silent.
pub fn register(view: &mut View<'_, '_>, one: &Reach) -> Result<()> {
    let one = Reach {
        session: view.caller.session.clone(),
        agent: view.caller.agent.clone(),
        at: view.now,
        ..one.clone()
    };
    reach::forget(view.tx, view.ws, view.now.minus(FORGOTTEN))?;
    reach::take_over(view.tx, view.ws, &one)?;
    reach::put(view.tx, view.ws, &one)
}

/// As [`register`], for a session of which nothing is known: its chat began while there was no store, or
/// none that answered. The session, if it was noted now.
pub fn register_late(view: &mut View<'_, '_>, one: &Reach) -> Result<Option<String>> {
    if reach::of(view.tx, view.ws, &view.caller.session)?.is_some() {
        return Ok(None);
    }
    register(view, one)?;
    Ok(Some(view.caller.session.clone()))
}

/// Notes what the speaker's client does. What was reported under a name that the chat had before its
/// MCP process came is put right.
pub fn active(view: &mut View<'_, '_>, now: Activity) -> Result<()> {
    let caller = view.caller;
    let Some(known) = reach_of(view)? else {
        return Ok(());
    };
    if known.agent == caller.agent {
        return reach::active(view.tx, view.ws, &caller.session, now, view.now).map(drop);
    }
    let one = Reach {
        agent: caller.agent.clone(),
        activity: now,
        at: view.now,
        ..known
    };
    reach::put(view.tx, view.ws, &one)
}

/// How the speaker's session can be reached, unless it has ended.
pub fn reach_of(view: &mut View<'_, '_>) -> Result<Option<Reach>> {
    let known = reach::of(view.tx, view.ws, &view.caller.session)?;
    Ok(known.filter(|one| !one.has_ended()))
}

/// The speaker's session cannot be reached any more; its chat can be resumed.
pub fn unreachable(view: &mut View<'_, '_>) -> Result<()> {
    reach::end(view.tx, view.ws, &view.caller.session)
}
