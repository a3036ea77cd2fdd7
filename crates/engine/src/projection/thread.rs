//! Threads: their messages in order, what is found and settled in them, and how far each has read.

use serde_json::{Map, Value, json};
use understory_model::Id;
use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::thread::{
    ACTIVE, FINDING_REPORTED, commits, finding_after, finding_name, is_open,
};
use understory_storage::Tx;
use understory_storage::messages::{self, Finding, Message};
use understory_storage::texts::Text;
use understory_storage::threads::{self, Participant, Thread, Wake};

use super::{THREAD, damaged, garden};
use crate::core::Core;
use crate::search::sort;
use crate::threads::{ended, said, text};

pub fn made(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    data: &Map<String, Value>,
) -> Result<()> {
    let thread = Thread {
        id: item.seq,
        status: ACTIVE.to_string(),
        last: 0,
        updated: item.realized_at,
        findings: 0,
        open_findings: 0,
    };
    threads::put(tx, core.ws, &thread)?;
    let title = Text {
        title: text(data, "title").to_string(),
        ..Text::default()
    };
    core.texts.put(core.ws, item.seq, THREAD, title, false);
    let named = data.get("participants").and_then(Value::as_array);
    let named = named.into_iter().flatten().filter_map(Value::as_str);
    let mut members: Vec<&str> = named.chain([item.actor.as_str()]).collect();
    members.sort_unstable();
    members.dedup();
    for agent in members {
        let one = Participant {
            agent: agent.to_string(),
            thread: item.seq,
            member: true,
            read: 0,
            own: 0,
            updated: item.realized_at,
        };
        threads::put_participant(tx, core.ws, &one)?;
    }
    Ok(())
}

/// A change of a thread's status.
pub fn changed(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<()> {
    let mut thread = of(tx, core, item)?;
    if let Some(thing) = core.thing(tx, thread.id)? {
        thread.status = text(&thing.data, "status").to_string();
    }
    thread.updated = item.realized_at;
    threads::put(tx, core.ws, &thread)
}

pub fn message(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<()> {
    let (ws, mut thread) = (core.ws, of(tx, core, item)?);
    let said = said(item).ok_or_else(|| damaged(item, "its content cannot be read"))?;
    let n = thread.last + 1;
    if said.n != n {
        return Err(damaged(item, "it is not the next message of its thread"));
    }
    let event = said.event_type().unwrap_or_default();
    let mut message = Message {
        thread: thread.id,
        n,
        seq: item.seq,
        sender: item.actor.clone(),
        finding: None,
        commits: None,
    };
    if event == "fix_pushed" {
        let named = commits(&said.metadata, &said.body);
        message.commits = (!named.is_empty()).then(|| json!(named).to_string());
    }
    let named = finding_name(&said.metadata);
    let known = match &named {
        Some(name) => messages::named(tx, ws, thread.id, name)?,
        None => None,
    };
    message.finding = match (event, said.in_reply_to) {
        (FINDING_REPORTED, _) => Some(known.unwrap_or(n)),
        (_, Some(answered)) => match messages::by_seq(tx, ws, answered)? {
            Some(answered) => answered.finding.or(known),
            None => known,
        },
        (_, None) => known,
    };
    if let (Some(finding), Some(state)) = (message.finding, finding_after(event)) {
        let change = Finding {
            thread: thread.id,
            n: finding,
            name: named,
            state: state.to_string(),
            open: is_open(state),
            changed: item.seq,
        };
        settle(tx, core, &mut thread, change)?;
    }
    messages::add(tx, ws, &message)?;
    garden::parts(tx, core, item)?;
    if let Some(answered) = said.in_reply_to {
        garden::replied(tx, core, item, answered)?;
    }
    garden::mentioned(tx, core, item, &said.mentions)?;
    garden::counted(tx, core, item, &said.cited)?;
    if !said.body.trim().is_empty() {
        let body = Text {
            body: said.body.clone(),
            ..Text::default()
        };
        core.texts.put(ws, item.seq, sort::MESSAGE, body, false);
    }
    threads::said(tx, ws, &item.actor, thread.id)?;
    thread.last = n;
    thread.updated = item.realized_at;
    threads::put(tx, ws, &thread)
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
pub fn read(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<()> {
    let (ws, thread) = (core.ws, of(tx, core, item)?);
    let content = item.content.as_deref().unwrap_or_default();
    let read = serde_json::from_str::<Value>(content).ok();
    let read = read.and_then(|said| said["n"].as_i64());
    let read = read.ok_or_else(|| damaged(item, "its content cannot be read"))?;
    let member = threads::participant(tx, ws, &item.actor, thread.id)?;
    let one = Participant {
        agent: item.actor.clone(),
        thread: thread.id,
        member: member.is_some_and(|there| there.member),
        read,
        own: messages::own_after(tx, ws, thread.id, &item.actor, read)?,
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
    let missing = || damaged(item, "it wakes nobody for no thread");
    let thread = core.by_handle(tx, text(data, "thread"))?;
    let wake = Wake {
        id,
        thread: thread.ok_or_else(missing)?,
        target: text(data, "target").to_string(),
        result: text(data, "result").to_string(),
        open: !ended(text(data, "result")),
    };
    threads::put_wake(tx, core.ws, &wake)
}

fn of(tx: &mut Tx<'_>, core: &Core, item: &Item) -> Result<Thread> {
    let missing = || damaged(item, "its thread is not there");
    let id: Id = item.entity.ok_or_else(missing)?;
    threads::get(tx, core.ws, id)?.ok_or_else(missing)
}
