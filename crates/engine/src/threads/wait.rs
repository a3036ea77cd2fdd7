//! `wait_for_messages`: the cheapest way to be woken. A server that has many to answer takes looks
//! and waits between them in a way of its own; a lone caller waits here.
//!
//! What was told stays unread until it is acknowledged: `next` of an answer, given back as `ack`,
//! says exactly what was told. A session is told once, and the agent's next session again, so that
//! nothing is lost when a caller dies between the two.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use understory_model::answer::{self, Answer};
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::{Caller, Seq, Time, Ws, limits};
use understory_storage::waits::{self, Waiting};
use understory_storage::{ReadTx, turns};

use super::looks::{check_named, starts};
use super::news::CHANGES;
use super::{ack, nothing_yet};
use crate::kernel::clock::Wait;
use crate::kernel::signs as session;
use crate::{Engine, Request, Resolved};

pub use super::heard::{Heard, Mark, Telling, hear, remember};
pub use super::looks::{Before, Came, Looked, Looks, look, together};
pub use super::news::Waited;

/// How long a waiting call is believed to wait without saying so again, in microseconds, and how
/// often it does.
const LEASE: i64 = 20 * 1_000_000;
pub const RENEW: Duration = Duration::from_secs(8);

/// A place in a thread: up to which of its messages and of its changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    pub seq: Option<i64>,
    pub changes: Option<i64>,
}

/// Places as a payload gives them: `{"th_001": 3, "th_001/status": 1}`.
pub fn places(field: &str, given: BTreeMap<String, i64>) -> Result<BTreeMap<String, Place>> {
    let mut places: BTreeMap<String, Place> = BTreeMap::new();
    for (name, at) in given {
        if at < 0 {
            return Err(Fault::invalid(field, "must not be below 0"));
        }
        let (thread, part) = match name.strip_suffix(CHANGES) {
            Some(thread) => (thread.to_string(), true),
            None => (name, false),
        };
        let place = places.entry(thread).or_default();
        if part {
            place.changes = Some(at)
        } else {
            place.seq = Some(at)
        }
    }
    if places.len() > limits::WAITED_THREADS {
        let most = limits::WAITED_THREADS;
        let problem = format!("names {} threads; at most {most}", places.len());
        return Err(Fault::invalid(field, problem));
    }
    Ok(places)
}

/// What is waited for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// All that the caller takes part in, if empty.
    pub threads: Vec<String>,
    /// After which message of every thread.
    pub since: Option<i64>,
    /// After which place of a thread, before what `since` says.
    pub since_of: BTreeMap<String, Place>,
    /// What the caller was told already and has read.
    pub ack: BTreeMap<String, Place>,
    pub limit: i64,
    /// Whether the caller keeps its places itself: it gave `since`, of whichever threads.
    pub placed: bool,
    /// What the caller's session was told before, from where a thread goes on that nothing else is
    /// said of ([`hear`]).
    pub heard: Heard,
}

/// Waits for messages, and answers with them or with the word that none came.
pub fn wait(
    engine: &Engine,
    caller: &Caller,
    wanted: &Wanted,
    budget: &Budget,
    timeout: Duration,
) -> Result<Answer<Waited>> {
    acknowledge(engine, caller, wanted)?;
    let mut wanted = wanted.clone();
    hear(engine, caller, &mut wanted)?;
    let wanted = &wanted;
    let wait = Wait::of(timeout);
    let mut head = engine.head(caller)?;
    let mut here: Option<Here<'_>> = None;
    loop {
        let before = match look(engine, caller, wanted, budget)? {
            Looked::Came(came) => {
                let telling = Telling::of(caller, &came.told);
                // As with `begin`: should it fail, it is told again.
                let _ = remember(engine, caller, telling.into_iter().collect());
                return Ok(came.answer.clone());
            }
            Looked::Nothing(before) => before,
        };
        if wait.left().is_zero() {
            return nothing(wanted, budget, timeout, &before);
        }
        let here = here.get_or_insert_with(|| Here {
            engine,
            caller,
            lease: begin(engine, caller, wanted),
            fresh: Wait::of(RENEW),
        });
        head = engine.watch(caller, head, wait.left().min(here.fresh.left()))?;
        here.renew();
    }
}

/// Notes what the caller was told before and has read.
pub fn acknowledge(engine: &Engine, caller: &Caller, wanted: &Wanted) -> Result<()> {
    let Some(first) = wanted.ack.keys().next() else {
        return Ok(());
    };
    if !matches!(engine.workspace(caller)?, Resolved::There(_)) {
        return Err(nothing_yet(first));
    }
    // A call that will be refused for what it waits on leaves no trace.
    engine.view(caller, |view| check_named(view, caller, wanted))?;
    let request = Request {
        tool: "wait_for_messages",
        scope: String::new(),
        key: None,
        arguments: Value::Null,
        cause: None,
        project: None,
    };
    let places = wanted.ack.clone();
    let done = engine.write(caller, request, move |work| {
        for (thread, place) in &places {
            ack::up_to(work, thread, place)?;
        }
        Ok(())
    });
    done.map(drop)
}

/// The place of the workspace's last message or change of a thread; 0 before the first.
pub fn last_news(engine: &Engine, caller: &Caller) -> Result<Seq> {
    engine.view(caller, |view| turns::last_news(view.tx, view.ws))
}

/// The answer when nothing came in time: who goes on from `next` is where it was.
pub fn nothing(
    wanted: &Wanted,
    budget: &Budget,
    waited: Duration,
    before: &Before,
) -> Result<Answer<Waited>> {
    let named = wanted.threads.iter();
    let mut next = before.next.clone();
    next.extend(named.filter_map(|thread| Some((thread.clone(), wanted.since?))));
    for (thread, place) in &wanted.since_of {
        next.extend(place.seq.map(|seq| (thread.clone(), seq)));
        next.extend(
            place
                .changes
                .map(|seen| (format!("{thread}{CHANGES}"), seen)),
        );
    }
    let mut hints = Vec::new();
    if !waited.is_zero() {
        let seconds = waited.as_secs_f64();
        hints.push(format!(
            "Nothing came within {seconds} s. Call wait_for_messages again to go on waiting."
        ));
    }
    if !before.next.is_empty() {
        hints.push(before.told());
    }
    let nothing = Waited {
        next,
        timed_out: true,
        hint: (!hints.is_empty()).then(|| hints.join(" ")),
        ..Waited::default()
    };
    answer::fit(nothing, budget)
}

/// After which message of a thread a call waits; `None` if it does not wait on that thread.
pub fn waits_on(one: &Waiting, handle: &str) -> Option<i64> {
    let since: BTreeMap<String, i64> = serde_json::from_str(&one.since).ok()?;
    match since.get(handle) {
        Some(since) => Some(*since),
        // It hears of everything that is unread.
        None => one.every.then_some(0),
    }
}

/// Registers that a call of the caller waits and for what, so that no agent is woken that already
/// waits.
///
/// Best effort: if it cannot be recorded, as for a caller who may not write, the wait continues.
/// Waiting never creates a store.
pub fn begin(engine: &Engine, caller: &Caller, wanted: &Wanted) -> Option<Lease> {
    if !matches!(engine.workspace(caller), Ok(Resolved::There(_))) {
        return None;
    }
    let since = engine.view(caller, |view| starts(view, caller, wanted));
    let since = since.ok()?;
    let lease = Lease {
        token: engine.clock().chance(),
        row: Waiting {
            agent: caller.agent.clone(),
            session: caller.session.clone(),
            every: wanted.threads.is_empty(),
            since: Value::from_iter(since).to_string(),
        },
    };
    let kept = lease.clone();
    let said = engine.write_live(caller, move |tx, ws, now| {
        let until = until(tx, ws, now)?;
        waits::put(tx, ws, &kept.token, &kept.row, until)
    });
    said.ok().map(|()| lease)
}

/// Until when a call is believed that says now that it waits.
fn until(tx: &mut ReadTx<'_>, ws: Ws, now: Time) -> Result<Time> {
    let now = session::moment(tx, ws, now)?;
    Ok(Time(now.0.saturating_add(LEASE)))
}

/// Extends the lease of a waiting call.
pub fn renew(engine: &Engine, caller: &Caller, lease: &Lease) -> Result<()> {
    renew_all(engine, caller, vec![lease.clone()])
}

/// As [`renew`], of many calls in the caller's workspace, for any caller.
pub fn renew_all(engine: &Engine, caller: &Caller, leases: Vec<Lease>) -> Result<()> {
    engine.write_live(caller, move |tx, ws, now| {
        let until = until(tx, ws, now)?;
        for lease in &leases {
            waits::renew(tx, ws, &lease.row.agent, &lease.token, until)?;
        }
        Ok(())
    })
}

/// Ends the lease of a waiting call. One that is not ended expires.
pub fn end(engine: &Engine, caller: &Caller, lease: &Lease) {
    let _ = end_all(engine, caller, vec![lease.clone()]);
}

/// As [`end`], of many calls in the caller's workspace, for any caller.
pub fn end_all(engine: &Engine, caller: &Caller, leases: Vec<Lease>) -> Result<()> {
    engine.write_live(caller, move |tx, ws, now| {
        for lease in &leases {
            waits::end(tx, ws, &lease.row.agent, &lease.token, now)?;
        }
        Ok(())
    })
}

/// A waiting call, as others are told of it.
#[derive(Debug, Clone)]
pub struct Lease {
    token: [u8; 10],
    row: Waiting,
}

/// Keeps a waiting call registered until it is dropped.
struct Here<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    lease: Option<Lease>,
    /// Until the lease is to be renewed.
    fresh: Wait,
}

impl Here<'_> {
    fn renew(&mut self) {
        if !self.fresh.left().is_zero() {
            return;
        }
        self.fresh = Wait::of(RENEW);
        if let Some(lease) = &self.lease {
            // As with `begin`: the wait does not depend on it.
            let _ = renew(self.engine, self.caller, lease);
        }
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        if let Some(lease) = &self.lease {
            end(self.engine, self.caller, lease);
        }
    }
}
