//! `get_thread` and `list_threads`: what a thread is, and which there are.

use serde_json::{Value, json};
use understory_model::budget::Budget;
use understory_model::error::{Code, Fault, Result};
use understory_model::id::message_name;
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Id, Role, Time};
use understory_storage::entities::Entity;
use understory_storage::threads::{self, Listed, Reader, Wanted};
use understory_storage::{turns, waits};

use super::wait::waits_on;
use super::{Found, Turned, find, fitted, session, text};
use crate::core::Thing;
use crate::{View, who};

/// The name of this list in its cursors.
const LIST: &str = "threads";
/// Jobs of waking that a thread shows, the last ones.
const WAKES: i64 = 5;
/// Changes of its status and participants that it shows, the last ones.
const CHANGES: i64 = 5;

/// `get_thread`.
pub fn get(view: &mut View<'_, '_>, caller: &Caller, handle: &str) -> Result<Value> {
    let found = find(view, caller, handle)?;
    let reader = threads::participant(view.tx, view.ws, &caller.agent, found.row.id)?;
    let mut shown = shape(&found, view.name);
    let changes = turns::between(view.tx, view.ws, found.row.id, 0, i64::MAX, CHANGES)?;
    if !changes.is_empty() {
        let changes = changes.iter().map(|(turn, item)| Turned::of(turn, item));
        shown["changes"] = json!(changes.collect::<Vec<_>>());
    }
    let waiting = waits::of_thread(view.tx, view.ws, found.row.id, view.now)?;
    let waits = |agent: &str| {
        let mut own = waiting.iter().filter(|one| one.agent == agent);
        own.any(|one| waits_on(one, found.handle()).is_some())
    };
    let readers = threads::readers(view.tx, view.ws, found.row.id)?;
    let alive = who::alive(view)?;
    let readers = readers.iter().map(|one| {
        let seen = who::last_seen(view.tx, view.ws, &one.agent)?;
        let here = Here {
            waits: waits(&one.agent),
            alive: alive.contains(&one.agent),
            seen,
        };
        Ok(reading(one, &here, view.now))
    });
    shown["readers"] = readers.collect::<Result<Vec<Value>>>()?.into();
    let wakes = threads::wakes(view.tx, view.ws, found.row.id, WAKES)?;
    if !wakes.is_empty() {
        let wakes = wakes.into_iter().map(waking);
        shown["wakes"] = wakes.collect::<Result<Vec<Value>>>()?.into();
    }
    if let Some(reader) = reader {
        shown["last_read_seq"] = reader.read.into();
        if reader.member {
            shown["unread"] = (found.row.last - reader.read - reader.own).into();
        }
    }
    Ok(shown)
}

/// A thread with everybody in it.
fn shape(found: &Found, workspace: &str) -> Value {
    let (entity, data) = (&found.thing.entity, &found.thing.data);
    json!({
        "thread_id": entity.handle,
        "workspace_id": workspace,
        "title": text(data, "title"),
        "type": text(data, "type"),
        "status": found.row.status,
        "participants": found.participants(),
        "created_by": entity.created_by,
        "created_at": entity.created_at.to_string(),
        "updated_at": found.row.updated.to_string(),
        "last_seq": found.row.last,
        "open_findings": found.row.open_findings,
        "open_items": found.row.open_findings + found.row.open_asks,
    })
}

/// Who was to be woken, and what has come of it.
fn waking(job: Entity) -> Result<Value> {
    let thing = Thing::open(job)?;
    let field = |name: &str| text(&thing.data, name).to_string();
    Ok(json!({
        "wake_id": thing.entity.handle,
        "target_agent_id": field("target"),
        "action": field("action"),
        "result": field("result"),
        "updated_at": thing.entity.updated_at.to_string(),
    }))
}

/// What is known of a reader besides how far it has read.
struct Here {
    waits: bool,
    alive: bool,
    seen: Option<Time>,
}

/// How far somebody has read, and whether it is there.
fn reading(one: &Reader, here: &Here, now: Time) -> Value {
    let mut shown = json!({ "agent_id": one.agent, "last_read_seq": one.read });
    if let Some(acked) = one.acked {
        shown["last_acked_message_id"] = message_name(acked).into();
        shown["updated_at"] = one.updated.to_string().into();
    }
    if let Some(seen) = here.seen {
        shown["last_seen"] = seen.to_string().into();
        shown["alive"] = here.alive.into();
    }
    if here.waits {
        shown["waits"] = true.into();
    }
    if let Some(alive) = &one.alive {
        shown["session_id"] = alive.session.clone().into();
        if !alive.runtime.is_empty() {
            shown["runtime"] = alive.runtime.clone().into();
        }
        shown["management_mode"] = session::mode(alive.managed).into();
        shown["resumable"] = alive.resumable.into();
        shown["status"] = session::status(alive, now).into();
        shown["last_heartbeat_at"] = alive.at.to_string().into();
    }
    shown
}

/// Which threads somebody wants to see.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub status: Option<String>,
    /// Only those that hold something unread.
    pub unread: bool,
    /// Those of others too, for a caller who may read them.
    pub all: bool,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// `list_threads`: the last changed first.
pub fn list(
    view: &mut View<'_, '_>,
    caller: &Caller,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    if asked.all && caller.role == Role::Worker {
        let problem = "only an operator, an orchestrator or an auditor lists all threads";
        return Err(Fault::new(Code::InsufficientAuthority, problem)
            .details(json!({ "field": "all" }))
            .hint("Leave out `all`: a worker sees the threads that it takes part in."));
    }
    let wanted = Wanted {
        agent: (!asked.all).then_some(caller.agent.as_str()),
        reader: &caller.agent,
        status: asked.status.as_deref(),
        unread_only: asked.unread,
        before: place(asked.cursor.as_deref())?,
        most: asked.limit + 1,
    };
    let mut rows = threads::list(view.tx, view.ws, &wanted)?;
    let more = rows.len() as i64 > asked.limit;
    rows.truncate(usize::try_from(asked.limit).unwrap_or(0));
    let (count, of_all) = threads::count_unread(view.tx, view.ws, &caller.agent)?;
    let lines = rows.iter().map(line).collect::<Result<Vec<Value>>>()?;
    let page = |lines: &[Value], more: bool| {
        let mut answer = json!({
            "threads": lines,
            "unread": { "threads": count, "messages": of_all },
        });
        if let Some(last) = rows[..lines.len()].last().filter(|_| more) {
            answer["next_cursor"] = cursor(last.thread.updated, last.thread.id).into();
        }
        answer
    };
    let answer = fitted("threads", lines.len(), budget, |kept| {
        page(&lines[..kept], more || kept < lines.len())
    });
    let Some(first) = lines.first().filter(|_| answer["threads"] == json!([])) else {
        return Ok(answer);
    };
    let mut least = page(&[lean(first)], more || lines.len() > 1);
    least["truncated"] = true.into();
    Ok(if budget.holds(&least) { least } else { answer })
}

/// A line without what may be long: left out, it would hide all after it.
fn lean(line: &Value) -> Value {
    let mut lean = line.clone();
    if let Some(fields) = lean.as_object_mut() {
        fields.remove("title");
        fields.remove("participants");
    }
    lean
}

/// A thread in a list.
pub fn line(listed: &Listed) -> Result<Value> {
    let thing = Thing::open(listed.entity.clone())?;
    let row = &listed.thread;
    let mut line = json!({
        "thread_id": thing.entity.handle,
        "title": text(&thing.data, "title"),
        "type": text(&thing.data, "type"),
        "status": row.status,
        "participants": thing.data.get("participants"),
        "created_by": thing.entity.created_by,
        "last_seq": row.last,
        "open_findings": row.open_findings,
        "updated_at": row.updated.to_string(),
    });
    if row.open_asks > 0 {
        line["open_items"] = (row.open_findings + row.open_asks).into();
    }
    if let Some(unread) = listed.unread {
        line["unread"] = unread.into();
    }
    Ok(line)
}

fn cursor(updated: Time, id: Id) -> String {
    Cursor::new(LIST, vec![Key::Int(updated.0), Key::Int(id)]).encode()
}

fn place(cursor: Option<&str>) -> Result<(Time, Id)> {
    match cursor {
        None => Ok((Time(i64::MAX), i64::MAX)),
        Some(text) => {
            let cursor = Cursor::decode(text, LIST)?;
            Ok((Time(cursor.int(0)?), cursor.int(1)?))
        }
    }
}
