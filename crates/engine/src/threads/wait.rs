//! `wait_for_messages`: the cheapest way to be woken. A server that has many to answer takes looks
//! and waits between them in a way of its own; a lone caller waits here.
//!
//! What was told comes again until it is acknowledged: `next` of an answer, given back as `ack`, says
//! exactly what was told, so that nothing is lost when a caller dies between the two.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use understory_model::answer::{self, Answer};
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::{Caller, Seq, Time, Ws, limits};
use understory_storage::waits::{self, Waiting};
use understory_storage::{Tx, messages, threads, turns};

use super::news::{CHANGES, Row, Source, Watched, What};
use super::shape::{Form, Message};
use super::{Turned, ack, find, nothing_yet};
use crate::kernel::clock::Wait;
use crate::kernel::signs as session;
use crate::{Engine, Request, Resolved, View};

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
        match part {
            true => place.changes = Some(at),
            false => place.seq = Some(at),
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
    let wait = Wait::of(timeout);
    let mut head = engine.head(caller)?;
    let mut here: Option<Here<'_>> = None;
    loop {
        if let Some(answer) = look(engine, caller, wanted, budget)? {
            return Ok(answer);
        }
        if wait.left().is_zero() {
            return nothing(wanted, budget, timeout);
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
    engine.view(caller, |view| named(view, wanted).map(drop))?;
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

/// What has come; `None` if nothing of others has yet.
pub fn look(
    engine: &Engine,
    caller: &Caller,
    wanted: &Wanted,
    budget: &Budget,
) -> Result<Option<Answer<Waited>>> {
    let found = engine.view(caller, |view| found(view, wanted))?;
    found.map(|found| answer::fit(found, budget)).transpose()
}

/// Something that came, and its place in the log.
struct News {
    seq: Seq,
    row: Row,
    told: Told,
}

enum Told {
    Message(Box<Message>),
    Change(Box<Turned>),
}

fn found(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<Option<Waited>> {
    let watched = watched(view, wanted)?;
    let (mut rows, mut more) = (Vec::new(), false);
    let most = usize::try_from(wanted.limit).unwrap_or(0);
    for one in &watched {
        let (news, rest) = of_thread(view, one, most)?;
        rows.extend(news);
        more |= rest;
    }
    if rows.is_empty() {
        return Ok(None);
    }
    // Across threads they are told in the order in which they were written.
    rows.sort_by_key(|one: &News| one.seq);
    more |= rows.len() > most;
    rows.truncate(most);
    let mut from = Source {
        rows: Vec::with_capacity(rows.len()),
        watched,
        explain: wanted.since.is_none() && wanted.since_of.is_empty(),
    };
    let (mut messages, mut changes) = (Vec::new(), Vec::new());
    for one in rows {
        from.rows.push(one.row);
        match one.told {
            Told::Message(message) => messages.push(*message),
            Told::Change(turned) => changes.push(*turned),
        }
    }
    Ok(Some(Waited::of(messages, changes, more, from)))
}

/// What came in one thread, up to so many of each kind, and whether there is more.
fn of_thread(view: &mut View<'_, '_>, one: &Watched, most: usize) -> Result<(Vec<News>, bool)> {
    let (tx, ws, agent) = (&mut *view.tx, view.ws, view.caller.agent.as_str());
    let limit = most as i64 + 1;
    let told = messages::of_others(tx, ws, one.id, one.since, agent, limit)?;
    let turned = match one.changes > one.seen {
        true => turns::of_others(tx, ws, one.id, one.seen, agent, limit)?,
        false => Vec::new(),
    };
    let more = told.len() > most || turned.len() > most;
    let row = |what: What| Row {
        thread: one.handle.clone(),
        what,
    };
    let told = told.into_iter().take(most).map(|(message, item)| News {
        seq: item.seq,
        row: row(What::Message(message.n)),
        told: Told::Message(Box::new(Message::of(&item, agent, Form::Placed))),
    });
    let turned = turned.into_iter().take(most).map(|(turn, item)| {
        let mut told = Turned::of(&turn, &item);
        told.thread_id = Some(one.handle.clone());
        News {
            seq: item.seq,
            row: row(What::Change(told.change)),
            told: Told::Change(Box::new(told)),
        }
    });
    Ok((told.chain(turned).collect(), more))
}

/// The answer when nothing came in time: who goes on from `next` is where it was.
pub fn nothing(wanted: &Wanted, budget: &Budget, waited: Duration) -> Result<Answer<Waited>> {
    let named = wanted.threads.iter();
    let mut next: BTreeMap<String, i64> = named
        .filter_map(|thread| Some((thread.clone(), wanted.since?)))
        .collect();
    for (thread, place) in &wanted.since_of {
        next.extend(place.seq.map(|seq| (thread.clone(), seq)));
        next.extend(
            place
                .changes
                .map(|seen| (format!("{thread}{CHANGES}"), seen)),
        );
    }
    let hint = || {
        format!(
            "Nothing came within {} s. Call wait_for_messages again to go on waiting.",
            waited.as_secs_f64()
        )
    };
    let nothing = Waited {
        next,
        timed_out: true,
        hint: (!waited.is_zero()).then(hint),
        ..Waited::default()
    };
    answer::fit(nothing, budget)
}

fn watched(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<Vec<Watched>> {
    let mut all = named(view, wanted)?;
    if !wanted.threads.is_empty() {
        return Ok(all);
    }
    let most = limits::WAITED_THREADS as i64;
    for listed in threads::with_news(view.tx, view.ws, &view.caller.agent, most)? {
        let handle = listed.entity.handle;
        if !all.iter().any(|there| there.handle == handle) {
            all.push(watch(view, wanted, &listed.thread, handle)?);
        }
    }
    Ok(all)
}

/// The threads that the caller names.
fn named(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<Vec<Watched>> {
    let mut all: Vec<Watched> = Vec::new();
    for handle in wanted.threads.iter().chain(wanted.since_of.keys()) {
        if !all.iter().any(|there| there.handle == *handle) {
            let found = find(view, handle)?;
            all.push(watch(view, wanted, &found.row, handle.clone())?);
        }
    }
    Ok(all)
}

/// Where a wait on a thread begins: where the caller says, else at what it acknowledged.
fn watch(
    view: &mut View<'_, '_>,
    wanted: &Wanted,
    thread: &threads::Thread,
    handle: String,
) -> Result<Watched> {
    let place = wanted.since_of.get(&handle).copied().unwrap_or_default();
    let reader = threads::participant(view.tx, view.ws, &view.caller.agent, thread.id)?;
    let (read, seen) = reader.map_or((0, 0), |reader| (reader.read, reader.seen));
    let asked = place.seq.or(wanted.since);
    let seen = match (place.changes, asked) {
        (Some(seen), _) => seen,
        // Whoever was told of a message was told of the changes before it.
        (None, Some(asked)) => seen.max(turns::before(view.tx, view.ws, thread.id, asked)?),
        (None, None) => seen,
    };
    Ok(Watched {
        id: thread.id,
        since: asked.unwrap_or(read),
        seen,
        changes: thread.changes,
        handle,
    })
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

/// Says that a call of the caller waits and for what, so that nobody is woken who waits already.
///
/// A courtesy: where it cannot be said, as by one who may not write, the wait goes on without. Who
/// waits where nothing is yet makes nothing: no read does.
pub fn begin(engine: &Engine, caller: &Caller, wanted: &Wanted) -> Option<Lease> {
    if !matches!(engine.workspace(caller), Ok(Resolved::There(_))) {
        return None;
    }
    let since = engine.view(caller, |view| named(view, wanted));
    let since = since.ok()?.into_iter().map(|one| (one.handle, one.since));
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
fn until(tx: &mut Tx<'_>, ws: Ws, now: Time) -> Result<Time> {
    let now = session::moment(tx, ws, now)?;
    Ok(Time(now.0.saturating_add(LEASE)))
}

/// Says that a call still waits.
pub fn renew(engine: &Engine, caller: &Caller, lease: &Lease) -> Result<()> {
    renew_all(engine, caller, vec![lease.clone()])
}

/// As [`renew`], of many calls in the caller's workspace, whosever they are.
pub fn renew_all(engine: &Engine, caller: &Caller, leases: Vec<Lease>) -> Result<()> {
    engine.write_live(caller, move |tx, ws, now| {
        let until = until(tx, ws, now)?;
        for lease in &leases {
            waits::renew(tx, ws, &lease.row.agent, &lease.token, until)?;
        }
        Ok(())
    })
}

/// Says that it waits no more. One that ends without a word is forgotten when its lease is over.
pub fn end(engine: &Engine, caller: &Caller, lease: &Lease) {
    let lease = lease.clone();
    let _ = engine.write_live(caller, move |tx, ws, now| {
        waits::end(tx, ws, &lease.row.agent, &lease.token, now)
    });
}

/// A waiting call, as others are told of it.
#[derive(Debug, Clone)]
pub struct Lease {
    token: [u8; 10],
    row: Waiting,
}

/// Says that a call waits, for as long as it lives.
struct Here<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    lease: Option<Lease>,
    /// Until it is to be said again.
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
