//! Threads: their messages in order, what is found and settled in them, and how far each has read.

use serde_json::{Map, Value};
use understory_model::Id;
use understory_model::error::Result;
use understory_model::fact::{ReadAck, damaged};
use understory_model::item::Item;
use understory_model::thread::{Asked, Event, Reply, Status, WakeResult, commits, finding_name};
use understory_storage::messages::{self, Finding, Message};
use understory_storage::texts::Text;
use understory_storage::threads::{self, Participant, Thread, Wake};
use understory_storage::turns::{self, Turn};
use understory_storage::{Tx, asks};

use crate::kernel::content::message::{Said, participants};
use crate::kernel::content::text;
use crate::kernel::core::Core;
use crate::kernel::search::said::of_message;
use crate::kernel::search::sort;
use crate::kernel::spoken;
use crate::kinds::THREAD;

pub fn made(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    data: &Map<String, Value>,
) -> Result<()> {
    let thread = Thread {
        id: Id::of(item.seq),
        status: Status::Active,
        last: 0,
        updated: item.realized_at,
        findings: 0,
        open_findings: 0,
        open_asks: 0,
        changes: 0,
    };
    threads::put(tx, core.ws, &thread)?;
    let title = Text {
        title: text(data, "title").to_string(),
        ..Text::default()
    };
    core.texts
        .put(core.ws, Id::of(item.seq), THREAD, title, false);
    let mut members: Vec<&str> = participants(data).chain([item.actor.as_str()]).collect();
    members.sort_unstable();
    members.dedup();
    for agent in members {
        let one = Participant {
            agent: agent.to_string(),
            thread: Id::of(item.seq),
            member: true,
            read: 0,
            own: 0,
            seen: 0,
            updated: item.realized_at,
        };
        threads::put_participant(tx, core.ws, &one)?;
    }
    Ok(())
}

/// A change of a thread's status or participants.
pub fn changed(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    before: &Map<String, Value>,
) -> Result<()> {
    let (ws, mut thread) = (core.ws, of(tx, core, item)?);
    let data = match core.thing(tx, thread.id)? {
        Some(thing) => thing.data.clone(),
        None => Map::new(),
    };
    let seen = thread.changes;
    let status = Status::parse(text(&data, "status"));
    thread.status = status.ok_or_else(|| damaged(item, "its status is not known"))?;
    thread.updated = item.realized_at;
    thread.changes += 1;
    threads::put(tx, ws, &thread)?;
    turns::add(
        tx,
        ws,
        &Turn {
            thread: thread.id,
            n: thread.changes,
            seq: item.seq,
            after: thread.last,
            actor: item.actor.clone(),
        },
    )?;
    let there = participants(before);
    for agent in participants(&data).filter(|name| !there.clone().any(|known| known == *name)) {
        join(tx, core, item, &thread, agent, seen)?;
    }
    let here = participants(&data);
    for agent in there.filter(|name| !here.clone().any(|known| known == *name)) {
        if let Some(one) = threads::participant(tx, ws, agent, thread.id)? {
            let member = false;
            threads::put_participant(tx, ws, &Participant { member, ..one })?;
        }
    }
    // The author of a change need not be told of it.
    match threads::participant(tx, ws, &item.actor, thread.id)? {
        Some(own) if own.seen == seen => threads::put_participant(
            tx,
            ws,
            &Participant {
                seen: thread.changes,
                ..own
            },
        ),
        _ => Ok(()),
    }
}

/// Somebody takes part from now on: all that was said is unread, and the change that says so is
/// new.
fn join(
    tx: &mut Tx<'_>,
    core: &Core,
    item: &Item,
    thread: &Thread,
    agent: &str,
    seen: i64,
) -> Result<()> {
    let ws = core.ws;
    let one = match threads::participant(tx, ws, agent, thread.id)? {
        Some(there) => Participant {
            member: true,
            ..there
        },
        None => Participant {
            agent: agent.to_string(),
            thread: thread.id,
            member: true,
            read: 0,
            own: messages::own_after(tx, ws, thread.id, agent, 0)?,
            seen,
            updated: item.realized_at,
        },
    };
    threads::put_participant(tx, ws, &one)
}

pub fn message(tx: &mut Tx<'_>, core: &mut Core, item: &Item, said: &Said) -> Result<()> {
    let (ws, mut thread) = (core.ws, of(tx, core, item)?);
    let n = thread.last + 1;
    if said.n != n {
        return Err(damaged(item, "it is not the next message of its thread"));
    }
    let event = said.event();
    let mut message = Message {
        thread: thread.id,
        n,
        seq: item.seq,
        sender: item.actor.clone(),
        finding: None,
        commits: None,
        event,
    };
    if event == Some(Event::FixPushed) {
        let named = commits(&said.metadata, &said.body);
        message.commits = (!named.is_empty()).then(|| Value::from(named).to_string());
    }
    let named = finding_name(&said.metadata);
    let known = match &named {
        Some(name) => messages::named(tx, ws, thread.id, name)?,
        None => None,
    };
    let answered = match said.in_reply_to {
        Some(answered) => messages::by_seq(tx, ws, answered)?,
        None => None,
    };
    message.finding = match (event, &answered) {
        (Some(Event::FindingReported), _) => Some(known.unwrap_or(n)),
        (_, Some(answered)) => answered.finding.or(known),
        (_, None) => known,
    };
    let reporter = match message.finding.filter(|finding| *finding != n) {
        Some(finding) => messages::sender_of(tx, ws, thread.id, finding)?,
        None => None,
    };
    // Of others than its reporter and those who direct it is their word, and settles nothing.
    let claims = event.is_some_and(Event::claims_settled);
    let counts = !claims || said.directs() || reporter.as_ref() == Some(&item.actor);
    if let (Some(finding), Some(state)) = (message.finding, event.and_then(Event::finding))
        && counts
    {
        let change = Finding {
            thread: thread.id,
            n: finding,
            name: named,
            state,
            open: state.is_open(),
            changed: item.seq,
        };
        settle(tx, core, &mut thread, change)?;
    }
    let to = answered.map(|answered| answered.n);
    answer_asks(tx, core, &mut thread, &message, said, to)?;
    if let Some(ask) = event.and_then(Event::asks) {
        let asked = Asked {
            n,
            ask,
            sender: item.actor.clone(),
            finding: message.finding,
            reviewer: reporter,
        };
        asks::add(tx, ws, thread.id, &asked)?;
        thread.open_asks += 1;
    }
    messages::add(tx, ws, &message)?;
    spoken::parts(tx, core, item)?;
    if let Some(answered) = said.in_reply_to {
        spoken::replied(tx, core, item, answered)?;
    }
    spoken::mentioned(tx, core, item, "body", &said.mentions)?;
    spoken::counted(tx, core, item, &said.cited)?;
    if !said.body.trim().is_empty() {
        let body = Text {
            body: of_message(said),
            ..Text::default()
        };
        core.texts
            .put(ws, Id::of(item.seq), sort::MESSAGE, body, false);
    }
    threads::said(tx, ws, &item.actor, thread.id)?;
    thread.last = n;
    thread.updated = item.realized_at;
    threads::put(tx, ws, &thread)
}

/// Closes what a message answers of what was asked.
fn answer_asks(
    tx: &mut Tx<'_>,
    core: &Core,
    thread: &mut Thread,
    message: &Message,
    said: &Said,
    to: Option<i64>,
) -> Result<()> {
    if thread.open_asks == 0 {
        return Ok(());
    }
    let reply = Reply {
        event: message.event,
        sender: &message.sender,
        directs: said.directs(),
        to,
        finding: message.finding,
    };
    for asked in asks::open(tx, core.ws, thread.id)? {
        if asked.answered_by(&reply) {
            asks::close(tx, core.ws, thread.id, asked.n)?;
            thread.open_asks -= 1;
        }
    }
    Ok(())
}

/// Makes a finding what it has become; the thread's counts follow.
fn settle(tx: &mut Tx<'_>, core: &Core, thread: &mut Thread, change: Finding) -> Result<()> {
    let before = messages::get_finding(tx, core.ws, thread.id, change.n)?;
    thread.findings += i64::from(before.is_none());
    let was_open = before.is_some_and(|before| before.open);
    thread.open_findings += i64::from(change.open) - i64::from(was_open);
    messages::put_finding(tx, core.ws, &change)
}

/// Somebody has read up to a message.
pub fn read(tx: &mut Tx<'_>, core: &mut Core, item: &Item, ack: &ReadAck) -> Result<()> {
    let (ws, thread) = (core.ws, of(tx, core, item)?);
    let read = ack.n;
    // Before changes were counted, every reader was up to date.
    let seen = ack.changes.unwrap_or(thread.changes);
    let member = threads::participant(tx, ws, &item.actor, thread.id)?;
    let one = Participant {
        agent: item.actor.clone(),
        thread: thread.id,
        member: member.is_some_and(|there| there.member),
        read,
        own: messages::own_after(tx, ws, thread.id, &item.actor, read)?,
        seen,
        updated: item.realized_at,
    };
    threads::put_participant(tx, ws, &one)
}

pub fn wake(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    data: &Map<String, Value>,
) -> Result<()> {
    let id = item.entity.unwrap_or_default();
    let missing = || damaged(item, "it names an unknown thread or nobody to wake");
    let thread = core.by_handle(tx, text(data, "thread"))?;
    let result = WakeResult::parse(text(data, "result"));
    let result = result.ok_or_else(|| damaged(item, "its result is not known"))?;
    let wake = Wake {
        id,
        thread: thread.ok_or_else(missing)?,
        target: text(data, "target").to_string(),
        result,
        open: !result.is_final(),
    };
    threads::put_wake(tx, core.ws, &wake)
}

fn of(tx: &mut Tx<'_>, core: &Core, item: &Item) -> Result<Thread> {
    let missing = || damaged(item, "its thread is not there");
    let id: Id = item.entity.ok_or_else(missing)?;
    threads::get(tx, core.ws, id)?.ok_or_else(missing)
}
