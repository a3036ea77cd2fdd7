//! What has come for callers who wait. A message may wake a thousand of them at once: their looks
//! share one snapshot, and what is the same for several is read once.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use understory_model::answer::{self, Answer, Written};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::{Caller, Id, Seq, limits};
use understory_storage::threads::{self, Participant, Thread};
use understory_storage::{entities, messages, turns};

use super::heard::{self, Mark};
use super::news::{CHANGES, Row, Source, Waited, Watched, What};
use super::shape::{Form, Message};
use super::wait::Wanted;
use super::{Turned, find};
use crate::kernel::access::reads_all;
use crate::kinds::THREAD;
use crate::{Engine, View};

/// Nobody: no agent has this name.
const NOBODY: &str = "";

/// What a look found.
pub enum Looked {
    Came(Arc<Came>),
    /// Nothing of others that the session was not told of.
    Nothing(Before),
}

/// What came. All who are told the same share it.
#[derive(Debug)]
pub struct Came {
    pub answer: Answer<Waited>,
    /// What it tells that the session is to be told once.
    pub told: Vec<Mark>,
    written: OnceLock<Written>,
}

impl Came {
    /// The answer as it is sent, written for the first who asks.
    pub fn written(&self) -> Result<Written> {
        if let Some(written) = self.written.get() {
            return Ok(written.clone());
        }
        let written = self.answer.written()?;
        Ok(self.written.get_or_init(|| written).clone())
    }
}

/// What a session was told before and has not acknowledged.
#[derive(Debug, Clone, Default)]
pub struct Before {
    /// Up to where, as `ack` takes it.
    pub(super) next: BTreeMap<String, i64>,
    /// Messages of others.
    pub(super) unread: i64,
}

impl Before {
    /// Says what was told, and how it is marked as read.
    pub(super) fn told(&self) -> String {
        let what = match self.unread {
            0 => "changes that you have".to_string(),
            1 => "1 message that you have".to_string(),
            many => format!("{many} messages that you have"),
        };
        format!(
            "This session was already told of {what} not acknowledged: give `next` as `ack` to \
             mark that as read, or read_messages to read it again."
        )
    }
}

/// Has callers of one workspace look at one snapshot of it. `caller` is any of them.
pub fn together<T>(
    engine: &Engine,
    caller: &Caller,
    work: impl FnOnce(&mut Looks<'_, '_, '_>) -> Result<T>,
) -> Result<T> {
    engine.view(caller, |view| {
        let known = Some(Known::default());
        work(&mut Looks { view, known })
    })
}

/// What has come for one caller.
pub fn look(engine: &Engine, caller: &Caller, wanted: &Wanted, budget: &Budget) -> Result<Looked> {
    engine.view(caller, |view| {
        Looks { view, known: None }.look(caller, wanted, budget)
    })
}

/// Looks at one snapshot.
pub struct Looks<'l, 'v, 'c> {
    view: &'l mut View<'v, 'c>,
    /// What earlier looks found; `None` for one that is alone.
    known: Option<Known>,
}

#[derive(Default)]
struct Known {
    threads: HashMap<String, Option<Thread>>,
    participants: HashMap<(String, Id), Option<Participant>>,
    before: HashMap<(Id, i64), i64>,
    came: HashMap<Asked, Rc<Shared>>,
}

/// All that an answer depends on, but who reads it.
#[derive(PartialEq, Eq, Hash)]
struct Asked {
    watched: Vec<Watched>,
    limit: i64,
    budget: Budget,
    explain: bool,
}

/// An answer as everybody reads it who wrote nothing of what it was made from.
struct Shared {
    came: Option<Arc<Came>>,
    writers: BTreeSet<String>,
}

/// Something that came, and its place in the log.
struct News {
    seq: Seq,
    row: Row,
    told: Told,
    writer: String,
}

enum Told {
    Message(Box<Message>),
    Change(Box<Turned>),
}

impl Looks<'_, '_, '_> {
    /// What has come for one of the callers.
    pub fn look(&mut self, caller: &Caller, wanted: &Wanted, budget: &Budget) -> Result<Looked> {
        let (watched, before) = self.watched(caller, wanted)?;
        let asked = Asked {
            watched,
            limit: wanted.limit,
            budget: *budget,
            explain: wanted.since.is_none() && wanted.since_of.is_empty(),
        };
        let came = self.came(caller, asked)?;
        Ok(came.map_or(Looked::Nothing(before), Looked::Came))
    }

    /// The answer, from what others were told where it is the same.
    fn came(&mut self, caller: &Caller, asked: Asked) -> Result<Option<Arc<Came>>> {
        let Some(known) = &mut self.known else {
            return Ok(came(self.view, &caller.agent, &asked)?.came);
        };
        let shared = match known.came.get(&asked) {
            Some(shared) => Rc::clone(shared),
            None => Rc::new(came(self.view, NOBODY, &asked)?),
        };
        let own = if shared.writers.contains(&caller.agent) {
            // Its own words are no news to it, and may have taken the place of others.
            came(self.view, &caller.agent, &asked)?.came
        } else {
            shared.came.clone()
        };
        known.came.insert(asked, shared);
        Ok(own)
    }

    /// The threads that a wait is for, and what was told of them before. All of those named, and
    /// if none is, those in which something is unread.
    fn watched(&mut self, caller: &Caller, wanted: &Wanted) -> Result<(Vec<Watched>, Before)> {
        let (mut all, mut before) = (Vec::new(), Before::default());
        for handle in wanted.threads.iter().chain(wanted.since_of.keys()) {
            if all.iter().any(|there: &Watched| there.handle == *handle) {
                continue;
            }
            let thread = self.named(caller, handle)?;
            all.push(self.watch(caller, wanted, &thread, handle, &mut before)?);
        }
        if !wanted.threads.is_empty() {
            return Ok((all, before));
        }
        let (view, most) = (&mut *self.view, limits::WAITED_THREADS as i64);
        for listed in threads::with_news(view.tx, view.ws, &caller.agent, most)? {
            let handle = listed.entity.handle;
            if !all.iter().any(|there| there.handle == handle) {
                all.push(self.watch(caller, wanted, &listed.thread, &handle, &mut before)?);
            }
        }
        Ok((all, before))
    }

    /// A thread that a caller names and may read.
    fn named(&mut self, caller: &Caller, handle: &str) -> Result<Thread> {
        let known = self
            .known
            .as_ref()
            .and_then(|known| known.threads.get(handle));
        let thread = match known {
            Some(thread) => thread.clone(),
            None => {
                let thread = thread(self.view, handle)?;
                if let Some(known) = &mut self.known {
                    known.threads.insert(handle.to_string(), thread.clone());
                }
                thread
            }
        };
        if let Some(thread) = thread {
            let reads = reads_all(caller.role);
            if reads
                || self
                    .participant(caller, thread.id)?
                    .is_some_and(|one| one.member)
            {
                return Ok(thread);
            }
        }
        // Says why not.
        let mut own = View {
            tx: &mut *self.view.tx,
            ws: self.view.ws,
            name: self.view.name,
            caller,
            project: &caller.project,
            now: self.view.now,
            rules: self.view.rules,
            vectors: self.view.vectors,
        };
        find(&mut own, handle).map(|found| found.row)
    }

    fn participant(&mut self, caller: &Caller, thread: Id) -> Result<Option<Participant>> {
        let (tx, ws) = (&mut *self.view.tx, self.view.ws);
        let Some(known) = &mut self.known else {
            return threads::participant(tx, ws, &caller.agent, thread);
        };
        match known.participants.entry((caller.agent.clone(), thread)) {
            Entry::Occupied(there) => Ok(there.get().clone()),
            Entry::Vacant(place) => {
                let found = threads::participant(tx, ws, &caller.agent, thread)?;
                Ok(place.insert(found).clone())
            }
        }
    }

    /// How many of a thread's changes came before a message.
    fn changes_before(&mut self, thread: Id, n: i64) -> Result<i64> {
        let (tx, ws) = (&mut *self.view.tx, self.view.ws);
        let Some(known) = &mut self.known else {
            return turns::before(tx, ws, thread, n);
        };
        match known.before.entry((thread, n)) {
            Entry::Occupied(there) => Ok(*there.get()),
            Entry::Vacant(place) => Ok(*place.insert(turns::before(tx, ws, thread, n)?)),
        }
    }

    /// Where a wait on a thread begins: where the caller says, else after what it acknowledged and
    /// what its session was told.
    fn watch(
        &mut self,
        caller: &Caller,
        wanted: &Wanted,
        thread: &Thread,
        handle: &str,
        before: &mut Before,
    ) -> Result<Watched> {
        let place = wanted.since_of.get(handle).copied().unwrap_or_default();
        let reader = self.participant(caller, thread.id)?;
        let (read, acked, own) = reader.map_or((0, 0, 0), |one| (one.read, one.seen, one.own));
        let (told, heard) = wanted.heard.get(&thread.id).copied().unwrap_or_default();
        let asked = place.seq.or(wanted.since);
        let goes_on = !wanted.placed && asked.is_none() && place.changes.is_none();
        let seen = match (place.changes, asked) {
            (Some(seen), _) => seen,
            // Whoever was told of a message was told of the changes before it.
            (None, Some(asked)) => acked.max(self.changes_before(thread.id, asked)?),
            (None, None) => acked.max(heard),
        };
        let since = asked.unwrap_or(read.max(told));
        if goes_on && (since > read || seen > acked) {
            before.unread += if since > read {
                thread.last - read - own
            } else {
                0
            };
            before.next.insert(handle.to_string(), since);
            if seen > 0 {
                before.next.insert(format!("{handle}{CHANGES}"), seen);
            }
        }
        Ok(Watched {
            id: thread.id,
            handle: handle.to_string(),
            since,
            seen,
            last: thread.last,
            changes: thread.changes,
            goes_on,
        })
    }
}

/// Where each wait begins, by the handle of its thread, for those who are told that it waits.
pub(super) fn starts(
    view: &mut View<'_, '_>,
    caller: &Caller,
    wanted: &Wanted,
) -> Result<BTreeMap<String, i64>> {
    let (watched, _) = Looks { view, known: None }.watched(caller, wanted)?;
    Ok(watched
        .into_iter()
        .map(|one| (one.handle, one.since))
        .collect())
}

/// Refuses unknown threads and those that the caller may not read.
pub(super) fn check_named(view: &mut View<'_, '_>, caller: &Caller, wanted: &Wanted) -> Result<()> {
    let mut looks = Looks { view, known: None };
    for handle in wanted.threads.iter().chain(wanted.since_of.keys()) {
        looks.named(caller, handle)?;
    }
    Ok(())
}

fn thread(view: &mut View<'_, '_>, handle: &str) -> Result<Option<Thread>> {
    let found = entities::by_handle(view.tx, view.ws, handle)?;
    match found.filter(|entity| entity.kind == THREAD) {
        Some(entity) => threads::get(view.tx, view.ws, entity.id),
        None => Ok(None),
    }
}

/// What came of others than one agent, and who wrote it.
fn came(view: &mut View<'_, '_>, agent: &str, asked: &Asked) -> Result<Shared> {
    let (mut rows, mut more) = (Vec::new(), false);
    let most = usize::try_from(asked.limit).unwrap_or(0);
    for one in &asked.watched {
        let (news, rest) = of_thread(view, one, agent, most)?;
        rows.extend(news);
        more |= rest;
    }
    let writers = rows.iter().map(|one: &News| one.writer.clone()).collect();
    if rows.is_empty() {
        return Ok(Shared {
            came: None,
            writers,
        });
    }
    // Across threads they are told in the order in which they were written.
    rows.sort_by_key(|one| one.seq);
    more |= rows.len() > most;
    rows.truncate(most);
    let mut from = Source {
        rows: Vec::with_capacity(rows.len()),
        watched: asked.watched.clone(),
        explain: asked.explain,
    };
    let (mut messages, mut changes) = (Vec::new(), Vec::new());
    for one in rows {
        from.rows.push(one.row);
        match one.told {
            Told::Message(message) => messages.push(*message),
            Told::Change(turned) => changes.push(*turned),
        }
    }
    let waited = Waited::of(messages, changes, more, from);
    let answer = answer::fit(waited, &asked.budget)?;
    let told = heard::marks(&answer, &asked.watched);
    let written = OnceLock::new();
    let came = Some(Arc::new(Came {
        answer,
        told,
        written,
    }));
    Ok(Shared { came, writers })
}

/// What came in one thread, up to so many of each kind, and whether there is more.
fn of_thread(
    view: &mut View<'_, '_>,
    one: &Watched,
    agent: &str,
    most: usize,
) -> Result<(Vec<News>, bool)> {
    let (tx, ws) = (&mut *view.tx, view.ws);
    let limit = most as i64 + 1;
    let told = if one.last > one.since {
        messages::of_others(tx, ws, one.id, one.since, agent, limit)?
    } else {
        Vec::new()
    };
    let turned = if one.changes > one.seen {
        turns::of_others(tx, ws, one.id, one.seen, agent, limit)?
    } else {
        Vec::new()
    };
    let more = told.len() > most || turned.len() > most;
    let row = |what: What| Row {
        thread: one.handle.clone(),
        what,
    };
    // One more than is told is read: whose it is decides whether there is more.
    let told = told.into_iter().map(|(message, item)| News {
        seq: item.seq,
        row: row(What::Message(message.n)),
        told: Told::Message(Box::new(Message::of(&item, agent, Form::Placed))),
        writer: message.sender,
    });
    let turned = turned.into_iter().map(|(turn, item)| {
        let mut told = Turned::of(&turn, &item);
        told.thread_id = Some(one.handle.clone());
        News {
            seq: item.seq,
            row: row(What::Change(told.change)),
            told: Told::Change(Box::new(told)),
            writer: turn.actor,
        }
    });
    Ok((told.chain(turned).collect(), more))
}
