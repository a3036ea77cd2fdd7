//! Messages that an agent has not read and that its session was not told of, for the hooks that tell
//! it without being asked. What they tell is remembered as an answer of `wait_for_messages` is: it
//! stays unread until the agent acknowledges it.

use understory_model::error::Result;
use understory_model::thread::{WakeData, WakeResult};
use understory_model::{Id, Seq, Time, limits};
use understory_storage::hooks::{self, Answered};
use understory_storage::told::{self, Told};
use understory_storage::{messages, threads, waits, wakes, workspaces};

use crate::View;
use crate::kernel::content::text;
use crate::kernel::core::Thing;
use crate::kernel::signs::moment;
use crate::threads::shape::{Form, Message};
use crate::threads::wake;

/// Threads with something unread that are looked at.
const LOOKED_AT: i64 = 500;
/// What a telling is called among the events that were answered.
const TELLING: &str = "telling";
/// Jobs of waking that are told of, and that are looked at for them: what was delivered stays open until
/// it is read.
const JOBS: usize = 5;
const OPEN_JOBS: i64 = 20;

/// What a session was not told of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Untold {
    /// The threads that changed last, first.
    pub threads: Vec<Thread>,
    /// Further threads with something untold.
    pub more: i64,
}

/// A thread with messages that a session was not told of.
#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    pub id: Id,
    pub handle: String,
    pub title: String,
    /// How many they are; `messages` are the first of them.
    pub count: i64,
    pub messages: Vec<Message>,
    /// The place in the log of the last of them.
    pub newest: Seq,
}

/// When a session was last told something by a hook, and where the log ended then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Telling {
    pub seq: Seq,
    pub at: Time,
}

/// Somebody asked for the agent to be woken.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub id: Id,
    pub handle: String,
    pub thread: String,
    pub asker: String,
    pub prompt: String,
    /// Whether somebody asked for it, and not only wrote a message.
    pub asked: bool,
}

impl Untold {
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Whether anything of it came after a telling. What a telling had no room for was counted in
    /// it, and is not told again and again.
    pub fn is_newer(&self, than: Option<&Telling>) -> bool {
        let newest = self.threads.iter().map(|one| one.newest).max();
        newest.is_some_and(|newest| than.is_none_or(|than| newest > than.seq))
    }
}

/// What the caller's session was not told of.
pub fn untold(view: &mut View<'_, '_>) -> Result<Untold> {
    let (tx, ws, caller) = (&mut *view.tx, view.ws, view.caller);
    let told = told::of_session(tx, ws, &caller.agent, &caller.session)?;
    let mut found = Untold::default();
    for listed in threads::unread(tx, ws, &caller.agent, LOOKED_AT)? {
        let thread = &listed.thread;
        let read = threads::participant(tx, ws, &caller.agent, thread.id)?;
        let read = read.map_or(0, |reader| reader.read);
        let heard = told.iter().find(|one| one.thread == thread.id);
        let since = read.max(heard.map_or(0, |one| one.seq));
        let own = messages::own_after(tx, ws, thread.id, &caller.agent, since)?;
        let count = thread.last - since - own;
        if count <= 0 {
            continue;
        }
        if found.threads.len() as i64 == limits::HOOK_THREADS {
            found.more += 1;
            continue;
        }
        let most = limits::HOOK_MESSAGES;
        let first = messages::of_others(tx, ws, thread.id, since, &caller.agent, most)?;
        let last = messages::last_of_others(tx, ws, thread.id, &caller.agent)?;
        let newest = messages::seq_of(tx, ws, thread.id, last)?.unwrap_or_default();
        let id = thread.id;
        let thing = Thing::open(listed.entity)?;
        found.threads.push(Thread {
            id,
            title: text(&thing.data, "title").to_owned(),
            handle: thing.entity.handle,
            count,
            messages: first
                .iter()
                .map(|(_, item)| Message::of(item, &caller.agent, Form::Brief))
                .collect(),
            newest,
        });
    }
    Ok(found)
}

/// What the caller's session was not told of, but for what a worker is just delivering to it.
pub fn undelivered(view: &mut View<'_, '_>) -> Result<Untold> {
    let mut found = untold(view)?;
    let now = moment(view.tx, view.ws, view.now)?;
    for entity in wakes::held(view.tx, view.ws, &view.caller.agent, now)? {
        let thread = threads::woken_for(view.tx, view.ws, entity.id)?;
        found.threads.retain(|one| Some(one.id) != thread);
    }
    Ok(found)
}

/// Remembers that the caller's session is told something now, and up to which message of which
/// threads.
pub fn mark(view: &mut View<'_, '_>, told: &[(Id, i64)]) -> Result<()> {
    let head = workspaces::head(view.tx, view.ws, false)?;
    let telling = Answered {
        session: view.caller.session.clone(),
        event: TELLING.to_owned(),
        turn: head.map_or(0, |head| head.seq.0).to_string(),
        at: view.now,
    };
    hooks::answer(view.tx, view.ws, &telling, Time::ZERO)?;
    for (thread, seq) in told {
        let one = Told {
            agent: view.caller.agent.clone(),
            session: view.caller.session.clone(),
            thread: *thread,
            seq: *seq,
            changes: 0,
            at: view.now,
        };
        told::put(view.tx, view.ws, &one)?;
    }
    Ok(())
}

/// The caller's session heard nothing of what it was told last: all that it has not read is told again.
pub fn unheard(view: &mut View<'_, '_>) -> Result<()> {
    hooks::unanswered(view.tx, view.ws, &view.caller.session, TELLING)?;
    lost(view)
}

/// The caller's session has lost what it was told: its client has emptied or shortened the chat.
pub fn lost(view: &mut View<'_, '_>) -> Result<()> {
    let caller = view.caller;
    told::clear(view.tx, view.ws, &caller.agent, &caller.session)
}

/// Whether a call of the caller's session waits for messages and so is told of them itself.
pub fn waits(view: &mut View<'_, '_>) -> Result<bool> {
    let caller = view.caller;
    let waiting = waits::of_agent(view.tx, view.ws, &caller.agent, view.now)?;
    Ok(waiting.iter().any(|one| one.session == caller.session))
}

/// When a hook last told the caller's session something.
pub fn last_telling(view: &mut View<'_, '_>) -> Result<Option<Telling>> {
    let last = hooks::of(view.tx, view.ws, &view.caller.session, TELLING)?;
    Ok(last.map(|one| Telling {
        seq: Seq(one.turn.parse().unwrap_or_default()),
        at: one.at,
    }))
}

/// Who asked for the caller to be woken, and what for.
pub fn jobs(view: &mut View<'_, '_>) -> Result<Vec<Job>> {
    let agent = &view.caller.agent;
    let open = wakes::open_for(view.tx, view.ws, agent, OPEN_JOBS)?;
    let mut jobs = Vec::new();
    for entity in open {
        if jobs.len() == JOBS {
            break;
        }
        let thing = Thing::open(entity)?;
        // What was delivered was told.
        let job = WakeData::read(&thing.data);
        if let Some(job) = job.filter(|job| job.result != WakeResult::Delivered) {
            jobs.push(Job {
                id: thing.entity.id,
                asked: job.reason.as_deref() != Some(wake::UNASKED),
                asker: job.asked_by.unwrap_or(thing.entity.created_by),
                thread: job.thread,
                prompt: job.prompt,
                handle: thing.entity.handle,
            });
        }
    }
    Ok(jobs)
}
