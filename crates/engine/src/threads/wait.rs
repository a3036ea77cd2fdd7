//! `wait_for_messages`: the cheapest way to be woken. A server that has many to answer takes looks
//! and waits between them in a way of its own; a lone caller waits here.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::{Caller, Id, Seq, Time, limits};
use understory_storage::presence;
use understory_storage::{messages, threads};

use super::{find, fitted, lean, nothing_yet, session, shown};
use crate::clock::Wait;
use crate::{Engine, Resolved, View};

/// What is waited for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// All that the caller takes part in, if empty.
    pub threads: Vec<String>,
    /// After which message of every thread.
    pub since: Option<i64>,
    /// After which message of a thread, before what `since` says.
    pub since_of: BTreeMap<String, i64>,
    pub limit: i64,
}

/// A thread that is waited on, and after which of its messages.
struct Watched {
    id: Id,
    handle: String,
    since: i64,
}

/// Waits for messages, and answers with them or with the word that none came.
pub fn wait(
    engine: &Engine,
    caller: &Caller,
    wanted: &Wanted,
    budget: &Budget,
    timeout: Duration,
) -> Result<Value> {
    let wait = Wait::of(timeout);
    let mut head = engine.head(caller)?;
    let mut here = None;
    loop {
        if let Some(answer) = look(engine, caller, wanted, budget)? {
            return Ok(answer);
        }
        if wait.left().is_zero() {
            return Ok(nothing(wanted, budget));
        }
        here.get_or_insert_with(|| Here {
            engine,
            caller,
            token: begin(engine, caller, wait.left()),
        });
        head = engine.watch(caller, head, wait.left())?;
    }
}

/// The place of the workspace's last message; 0 before the first.
pub fn last_message(engine: &Engine, caller: &Caller) -> Result<Seq> {
    engine.read(caller, |view| match view {
        Some(view) => messages::last_seq(view.tx, view.ws),
        None => Ok(0),
    })
}

/// The messages that have come; `None` if there are none of others yet.
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

fn found(
    view: &mut View<'_, '_>,
    caller: &Caller,
    wanted: &Wanted,
    budget: &Budget,
) -> Result<Option<Value>> {
    let mut next = Map::new();
    let mut rows = Vec::new();
    let mut more = false;
    for watched in watched(view, caller, wanted)? {
        let Watched { id, handle, since } = watched;
        next.insert(handle, since.into());
        let mut found =
            messages::of_others(view.tx, view.ws, id, since, &caller.agent, wanted.limit + 1)?;
        more |= found.len() as i64 > wanted.limit;
        found.truncate(usize::try_from(wanted.limit).unwrap_or(0));
        let found = found.into_iter().map(|(_, item)| item);
        rows.extend(found.map(|item| (item.seq, shown(&item))));
    }
    if rows.is_empty() {
        return Ok(None);
    }
    // Across threads they are told in the order in which they were written.
    rows.sort_by_key(|(seq, _)| *seq);
    let most = usize::try_from(wanted.limit).unwrap_or(0);
    more |= rows.len() > most;
    rows.truncate(most);
    let rows: Vec<Value> = rows.into_iter().map(|(_, shown)| shown).collect();
    Ok(Some(page(&rows, &next, more, budget)))
}

fn page(rows: &[Value], next: &Map<String, Value>, more: bool, budget: &Budget) -> Value {
    let build = |kept: &[Value], more: bool| {
        let mut next = next.clone();
        for message in kept {
            let thread = message["thread_id"].as_str().unwrap_or_default();
            next.insert(thread.to_string(), message["seq"].clone());
        }
        json!({ "messages": kept, "next": next, "has_more": more, "timed_out": false })
    };
    let answer = fitted("messages", rows.len(), budget, |kept| {
        build(&rows[..kept], more || kept < rows.len())
    });
    let Some(first) = rows.first().filter(|_| answer["messages"] == json!([])) else {
        return answer;
    };
    let mut least = build(&[lean(first)], more || rows.len() > 1);
    least["truncated"] = true.into();
    match budget.holds(&least) {
        true => least,
        false => answer,
    }
}

/// The answer when nothing came in time: who goes on from `next` is where it was.
pub fn nothing(wanted: &Wanted, budget: &Budget) -> Value {
    let named = wanted.threads.iter();
    let mut next: BTreeMap<&String, i64> = named
        .filter_map(|thread| Some((thread, wanted.since?)))
        .collect();
    next.extend(
        wanted
            .since_of
            .iter()
            .map(|(thread, since)| (thread, *since)),
    );
    let answer = json!({ "messages": [], "next": next, "has_more": false, "timed_out": true });
    match budget.holds(&answer) {
        true => answer,
        false => json!({ "messages": [], "truncated": true }),
    }
}

fn watched(view: &mut View<'_, '_>, caller: &Caller, wanted: &Wanted) -> Result<Vec<Watched>> {
    let mut all: Vec<Watched> = Vec::new();
    let named = wanted.threads.iter().chain(wanted.since_of.keys());
    for handle in named {
        if all.iter().any(|there| there.handle == *handle) {
            continue;
        }
        let found = find(view, caller, handle)?;
        all.push(Watched {
            since: since(view, caller, wanted, found.row.id, handle)?,
            id: found.row.id,
            handle: handle.clone(),
        });
    }
    if !wanted.threads.is_empty() {
        return Ok(all);
    }
    let most = limits::WAITED_THREADS as i64;
    for listed in threads::unread(view.tx, view.ws, &caller.agent, most)? {
        let handle = listed.entity.handle;
        if !all.iter().any(|there| there.handle == handle) {
            let since = since(view, caller, wanted, listed.thread.id, &handle)?;
            let id = listed.thread.id;
            all.push(Watched { id, handle, since });
        }
    }
    Ok(all)
}

fn since(
    view: &mut View<'_, '_>,
    caller: &Caller,
    wanted: &Wanted,
    id: Id,
    handle: &str,
) -> Result<i64> {
    if let Some(since) = wanted.since_of.get(handle).or(wanted.since.as_ref()) {
        return Ok(*since);
    }
    let reader = threads::participant(view.tx, view.ws, &caller.agent, id)?;
    Ok(reader.map_or(0, |reader| reader.read))
}

/// Says that a call of the caller waits, so that nobody is woken who waits already.
///
/// A courtesy: where it cannot be said, as by one who may not write, the wait goes on without. Who
/// waits where nothing is yet makes nothing: no read does.
pub fn begin(engine: &Engine, caller: &Caller, timeout: Duration) -> Option<Token> {
    if !matches!(engine.workspace(caller), Ok(Resolved::There(_))) {
        return None;
    }
    let (token, agent) = (engine.clock().chance(), caller.agent.clone());
    let micros = i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX / 2);
    let said = engine.write_live(caller, move |tx, ws, now| {
        let until = session::moment(tx, ws, now)?.0.saturating_add(micros);
        presence::wait(tx, ws, &agent, &token, Time(until))
    });
    said.ok().map(|()| token)
}

/// Says that it waits no more. One that ends without a word is forgotten when its time is over.
pub fn end(engine: &Engine, caller: &Caller, token: Token) {
    let agent = caller.agent.clone();
    let _ = engine.write_live(caller, move |tx, ws, now| {
        presence::no_wait(tx, ws, &agent, &token, now)
    });
}

/// Tells one waiting call from another.
pub type Token = [u8; 10];

/// Says that a call waits, for as long as it lives.
struct Here<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    token: Option<Token>,
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            end(self.engine, self.caller, token);
        }
    }
}
