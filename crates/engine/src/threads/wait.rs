//! `wait_for_messages`: the cheapest way to be woken. A server that has many to answer takes looks
//! and waits between them in a way of its own; a lone caller waits here.
//!
//! What was told comes again until it is acknowledged: `next` of an answer, given back as `ack`, says
//! exactly what was told, so that nothing is lost when a caller dies between the two.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::{Caller, Id, Seq, Time, Ws, limits};
use understory_storage::waits::{self, Waiting};
use understory_storage::{Tx, messages, threads, turns};

use super::said::{Form, lean, shown};
use super::{Turned, ack, find, fitted, nothing_yet, session};
use crate::clock::Wait;
use crate::{Engine, Request, Resolved, View};

/// How long a waiting call is believed to wait without saying so again, in microseconds, and how
/// often it does.
const LEASE: i64 = 20 * 1_000_000;
pub const RENEW: Duration = Duration::from_secs(8);

/// What follows a thread's id where not its messages but its changes are counted.
const CHANGES: &str = "/status";

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

/// A thread that is waited on, and after which of its messages and changes.
struct Watched {
    id: Id,
    handle: String,
    since: i64,
    seen: i64,
    /// How many changes it has.
    changes: i64,
}

/// Waits for messages, and answers with them or with the word that none came.
pub fn wait(
    engine: &Engine,
    caller: &Caller,
    wanted: &Wanted,
    budget: &Budget,
    timeout: Duration,
) -> Result<Value> {
    acknowledge(engine, caller, wanted)?;
    let wait = Wait::of(timeout);
    let mut head = engine.head(caller)?;
    let mut here: Option<Here<'_>> = None;
    loop {
        if let Some(answer) = look(engine, caller, wanted, budget)? {
            return Ok(answer);
        }
        if wait.left().is_zero() {
            return Ok(nothing(wanted, budget, timeout));
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
    engine.read(caller, |view| match view {
        Some(view) => named(view, caller, wanted).map(drop),
        None => Ok(()),
    })?;
    let request = Request {
        tool: "wait_for_messages",
        scope: String::new(),
        key: None,
        arguments: Value::Null,
        cause: None,
        project: None,
    };
    let places = wanted.ack.clone();
    engine.write_json(caller, request, move |work| {
        for (thread, place) in &places {
            ack::up_to(work, thread, place)?;
        }
        Ok(Value::Null)
    })?;
    Ok(())
}

/// The place of the workspace's last message or change of a thread; 0 before the first.
pub fn last_news(engine: &Engine, caller: &Caller) -> Result<Seq> {
    engine.read(caller, |view| match view {
        Some(view) => turns::last_news(view.tx, view.ws),
        None => Ok(0),
    })
}

/// What has come; `None` if nothing of others has yet.
pub fn look(
    engine: &Engine,
    caller: &Caller,
    wanted: &Wanted,
    budget: &Budget,
) -> Result<Option<Value>> {
    engine.read(caller, |view| match view {
        Some(view) => found(view, caller, wanted, budget),
        None => match wanted.threads.first().or(wanted.since_of.keys().next()) {
            Some(thread) => Err(nothing_yet(thread)),
            None => Ok(None),
        },
    })
}

/// Something that came.
struct News {
    seq: Seq,
    thread: String,
    what: What,
}

enum What {
    Message(i64, Value),
    Change(Box<Turned>),
}

impl News {
    /// Without what may be long, and how long that is: left out, it would hide all after it.
    fn lean(&self) -> News {
        News {
            seq: self.seq,
            thread: self.thread.clone(),
            what: match &self.what {
                What::Message(n, message) => What::Message(*n, lean(message)),
                What::Change(turned) => What::Change(Box::new(Turned::clone(turned).lean())),
            },
        }
    }
}

fn found(
    view: &mut View<'_, '_>,
    caller: &Caller,
    wanted: &Wanted,
    budget: &Budget,
) -> Result<Option<Value>> {
    let watched = watched(view, caller, wanted)?;
    let (mut rows, mut more) = (Vec::new(), false);
    let most = usize::try_from(wanted.limit).unwrap_or(0);
    for one in &watched {
        let (tx, ws, agent) = (&mut *view.tx, view.ws, caller.agent.as_str());
        let told = messages::of_others(tx, ws, one.id, one.since, agent, wanted.limit + 1)?;
        let turned = match one.changes > one.seen {
            true => turns::of_others(tx, ws, one.id, one.seen, agent, wanted.limit + 1)?,
            false => Vec::new(),
        };
        more |= told.len() > most || turned.len() > most;
        let news = |seq: Seq, what: What| News {
            seq,
            thread: one.handle.clone(),
            what,
        };
        let told = told.into_iter().take(most);
        rows.extend(told.map(|(message, item)| {
            let shown = shown(&item, agent, Form::Placed);
            news(item.seq, What::Message(message.n, shown))
        }));
        let turned = turned.into_iter().take(most);
        rows.extend(turned.map(|(turn, item)| {
            let mut told = Turned::of(&turn, &item);
            told.thread_id = Some(one.handle.clone());
            news(item.seq, What::Change(Box::new(told)))
        }));
    }
    if rows.is_empty() {
        return Ok(None);
    }
    // Across threads they are told in the order in which they were written.
    rows.sort_by_key(|one: &News| one.seq);
    more |= rows.len() > most;
    rows.truncate(most);
    let implicit = wanted.since.is_none() && wanted.since_of.is_empty();
    let build = |kept: &[News], more: bool| {
        let mut answer = told(kept, &watched, more);
        if implicit {
            answer["hint"] = "Give `next` as `ack` to your next wait_for_messages: that marks \
                these as read. Until then they come again."
                .into();
        }
        answer
    };
    Ok(Some(page(&rows, more, budget, build)))
}

/// An answer of so many of what came.
fn told(kept: &[News], watched: &[Watched], more: bool) -> Value {
    let mut next = Map::new();
    for one in watched {
        next.insert(one.handle.clone(), one.since.into());
        if one.changes > 0 {
            // Where all was told, one's own changes are known too.
            let seen = if more { one.seen } else { one.changes };
            next.insert(format!("{}{CHANGES}", one.handle), seen.into());
        }
    }
    let (mut messages, mut changes) = (Vec::new(), Vec::new());
    for one in kept {
        match &one.what {
            What::Message(n, message) => {
                next.insert(one.thread.clone(), (*n).into());
                messages.push(message);
            }
            What::Change(turned) => {
                if more {
                    next.insert(format!("{}{CHANGES}", one.thread), turned.change.into());
                }
                changes.push(turned);
            }
        }
    }
    let mut answer =
        json!({ "messages": messages, "next": next, "has_more": more, "timed_out": false });
    if !changes.is_empty() {
        answer["changes"] = json!(changes);
    }
    answer
}

fn page(
    rows: &[News],
    more: bool,
    budget: &Budget,
    build: impl Fn(&[News], bool) -> Value,
) -> Value {
    let answer = fitted("messages", rows.len(), budget, |kept| {
        build(&rows[..kept], more || kept < rows.len())
    });
    let empty = answer["messages"] == json!([]) && answer.get("changes").is_none();
    let Some(first) = rows.first().filter(|_| empty) else {
        return answer;
    };
    let mut least = build(&[first.lean()], more || rows.len() > 1);
    least["truncated"] = true.into();
    if !budget.holds(&least)
        && let Some(fields) = least.as_object_mut()
    {
        fields.remove("hint");
    }
    match budget.holds(&least) {
        true => least,
        false => answer,
    }
}

/// The answer when nothing came in time: who goes on from `next` is where it was.
pub fn nothing(wanted: &Wanted, budget: &Budget, waited: Duration) -> Value {
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
    let mut answer = json!({ "messages": [], "next": next, "has_more": false, "timed_out": true });
    if !waited.is_zero() {
        answer["hint"] = format!(
            "Nothing came within {} s. Call wait_for_messages again to go on waiting.",
            waited.as_secs_f64()
        )
        .into();
    }
    match budget.holds(&answer) {
        true => answer,
        false => json!({ "messages": [], "truncated": true }),
    }
}

fn watched(view: &mut View<'_, '_>, caller: &Caller, wanted: &Wanted) -> Result<Vec<Watched>> {
    let mut all = named(view, caller, wanted)?;
    if !wanted.threads.is_empty() {
        return Ok(all);
    }
    let most = limits::WAITED_THREADS as i64;
    for listed in threads::with_news(view.tx, view.ws, &caller.agent, most)? {
        let handle = listed.entity.handle;
        if !all.iter().any(|there| there.handle == handle) {
            all.push(watch(view, caller, wanted, &listed.thread, handle)?);
        }
    }
    Ok(all)
}

/// The threads that the caller names.
fn named(view: &mut View<'_, '_>, caller: &Caller, wanted: &Wanted) -> Result<Vec<Watched>> {
    let mut all: Vec<Watched> = Vec::new();
    for handle in wanted.threads.iter().chain(wanted.since_of.keys()) {
        if !all.iter().any(|there| there.handle == *handle) {
            let found = find(view, caller, handle)?;
            all.push(watch(view, caller, wanted, &found.row, handle.clone())?);
        }
    }
    Ok(all)
}

/// Where a wait on a thread begins: where the caller says, else at what it acknowledged.
fn watch(
    view: &mut View<'_, '_>,
    caller: &Caller,
    wanted: &Wanted,
    thread: &threads::Thread,
    handle: String,
) -> Result<Watched> {
    let place = wanted.since_of.get(&handle).copied().unwrap_or_default();
    let reader = threads::participant(view.tx, view.ws, &caller.agent, thread.id)?;
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
    let since = engine.read(caller, |view| match view {
        Some(view) => named(view, caller, wanted),
        None => Ok(Vec::new()),
    });
    let since = since.ok()?.into_iter().map(|one| (one.handle, one.since));
    let lease = Lease {
        token: engine.clock().chance(),
        row: Waiting {
            agent: caller.agent.clone(),
            session: caller.session.clone(),
            every: wanted.threads.is_empty(),
            since: json!(since.collect::<BTreeMap<String, i64>>()).to_string(),
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
