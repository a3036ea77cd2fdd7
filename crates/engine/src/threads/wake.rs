//! `trigger_participant`: a job of waking somebody who has not read a thread.
//!
//! The ladder, from the cheapest step to the dearest: a call that waits already, a terminal that a
//! supervisor can type into, a session that can be resumed, a new one. Here the step is decided and
//! the job kept; whoever can take the step does so, and says on the job what came of it.

use serde_json::{Map, Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::nearest::nearest;
use understory_model::text::check_text;
use understory_model::{Id, Time, limits, shell};
use understory_storage::presence::{self, Presence};
use understory_storage::threads;

use super::{Found, find_to_change, session};
use crate::projection::WAKE;
use crate::work::{Create, Edit};
use crate::{Work, who};

/// Sessions of one agent that are looked at.
const SESSIONS: i64 = 20;

/// Who is to be woken, and with what words.
#[derive(Debug, Clone)]
pub struct Wish {
    pub target: String,
    pub reason: Option<String>,
    pub prompt: Option<String>,
}

pub fn check(wish: &Wish) -> Result<()> {
    super::check_agent("target_agent_id", &wish.target)?;
    if let Some(reason) = &wish.reason {
        check_text("reason", reason, limits::LINE_CHARS, true)?;
    }
    if let Some(prompt) = &wish.prompt {
        check_text("trigger_prompt", prompt, limits::LINE_CHARS, false)?;
    }
    Ok(())
}

/// A step of the ladder.
struct Step {
    action: &'static str,
    result: &'static str,
    fallback: Option<&'static str>,
    session: Option<Presence>,
    /// The session that can be resumed, now or should the step fail.
    resumable: Option<Presence>,
    note: &'static str,
}

pub fn trigger(work: &mut Work<'_, '_>, thread: &str, wish: &Wish) -> Result<Value> {
    let found = find_to_change(work, thread)?;
    check_target(&found, &wish.target)?;
    let step = step(work, &wish.target)?;
    let prompt = match &wish.prompt {
        Some(prompt) => prompt.clone(),
        None => format!(
            "{} has messages that you have not read. Read them, go on with your part, and post \
             where you stand.",
            found.handle()
        ),
    };
    let command = step
        .resumable
        .as_ref()
        .and_then(|session| resume_command(session, &prompt));
    let handle = keep(work, &found, wish, &step, prompt)?;
    answer(work, &found, wish, &step, handle, command)
}

/// Keeps the job; its handle. While one is open for the same thread and target it is that one:
/// whoever asks twice wakes nobody twice.
fn keep(
    work: &mut Work<'_, '_>,
    found: &Found,
    wish: &Wish,
    step: &Step,
    prompt: String,
) -> Result<String> {
    let ws = work.ws();
    let mut data = Map::new();
    data.insert("thread".into(), found.handle().into());
    data.insert("target".into(), wish.target.clone().into());
    data.insert("reason".into(), wish.reason.clone().into());
    data.insert("prompt".into(), prompt.into());
    data.insert("action".into(), step.action.into());
    data.insert("result".into(), step.result.into());
    // It is done when this has been read.
    data.insert("up_to".into(), found.row.last.into());
    if let Some(id) = threads::open_wakes(work.tx, ws, found.row.id, &wish.target)?.pop() {
        let thing = work.thing(id)?;
        let (handle, same) = (thing.entity.handle.clone(), thing.data == data);
        if !same {
            let edit = Edit {
                action: "asked_again",
                data: Some(data),
                ..Edit::default()
            };
            work.change(id, edit)?;
        }
        return Ok(handle);
    }
    let number = work.core.next_number(work.tx, HandleKind::Wake)?;
    let handle = HandleKind::Wake.handle(number);
    work.create(Create {
        kind: WAKE,
        handle: handle.clone(),
        data,
        ..Create::default()
    })?;
    Ok(handle)
}

fn answer(
    work: &mut Work<'_, '_>,
    found: &Found,
    wish: &Wish,
    step: &Step,
    handle: String,
    command: Option<String>,
) -> Result<Value> {
    let ws = work.ws();
    let reader = threads::participant(work.tx, ws, &wish.target, found.row.id)?;
    let unread = reader.map_or(found.row.last, |r| found.row.last - r.read - r.own);
    let mut answer = json!({
        "wake_id": handle,
        "thread_id": found.handle(),
        "target_agent_id": wish.target,
        "action": step.action,
        "result": step.result,
        "started": false,
        "unread": unread,
        "note": step.note,
        "triggered_at": work.now.to_string(),
    });
    if let Some(fallback) = step.fallback {
        answer["fallback_action"] = fallback.into();
    }
    if let Some(command) = command {
        answer["runtime_command"] = command.into();
    }
    if let Some(session) = &step.session {
        answer["session_id"] = session.session.clone().into();
        answer["runtime"] = session.runtime.clone().into();
    }
    Ok(answer)
}

fn check_target(found: &Found, target: &str) -> Result<()> {
    if found.has(target) {
        return Ok(());
    }
    let creator = [found.thing.entity.created_by.as_str()];
    let names = found.participants().into_iter().chain(creator);
    let near = nearest(target, names.clone(), 3);
    let near = match near.is_empty() {
        true => names.take(3).map(str::to_string).collect(),
        false => near,
    };
    let shown: String = target.chars().take(80).collect();
    Err(
        Fault::not_found(format!("{shown} takes no part in {}", found.handle()))
            .hint(format!("Its participants include {}.", near.join(", ")))
            .details(json!({ "nearest": near })),
    )
}

/// The cheapest step that can reach somebody.
fn step(work: &mut Work<'_, '_>, target: &str) -> Result<Step> {
    let (ws, now) = (work.ws(), work.now);
    if presence::waits(work.tx, ws, target, now)? {
        return Ok(Step {
            action: "wait_for_messages",
            result: "delivered",
            fallback: None,
            session: None,
            resumable: None,
            note: "It waits for messages already: what is posted reaches it at once.",
        });
    }
    let sessions = presence::of_agent(work.tx, ws, target, SESSIONS)?;
    let reachable = |one: &&Presence| one.managed && session::is_alive(one, now);
    let managed = sessions.iter().find(reachable);
    let resumable = sessions.iter().find(|one| one.resumable);
    if let Some(session) = managed {
        return Ok(Step {
            action: "trigger_runtime",
            result: "queued",
            fallback: resumable.map(|_| "resume_session"),
            session: Some(session.clone()),
            resumable: resumable.cloned(),
            note: "Its supervisor takes the job; nothing was started by this call.",
        });
    }
    if let Some(session) = resumable {
        return Ok(Step {
            action: "resume_session",
            result: "queued",
            fallback: Some("spawn_session"),
            session: Some(session.clone()),
            resumable: Some(session.clone()),
            note: "Nothing was started: no runtime is configured here. runtime_command resumes it.",
        });
    }
    let seen = who::last_seen(work.tx, ws, target)?;
    Err(unreachable(target, sessions.first(), seen))
}

fn unreachable(target: &str, session: Option<&Presence>, seen: Option<Time>) -> Fault {
    let shown: String = target.chars().take(80).collect();
    let later = "It sees what is unread in graph_onboard, list_threads and wait_for_messages.";
    match (session, seen) {
        (Some(session), _) => Fault::new(
            Code::UnmanagedRuntime,
            format!("{shown} runs where nobody can type, and cannot be resumed"),
        )
        .details(json!({ "last_heartbeat_at": session.at.to_string() }))
        .hint(later),
        (None, Some(seen)) => Fault::new(
            Code::WakeFailed,
            format!("{shown} was last seen at {seen}, and no runtime is configured to resume it"),
        )
        .details(json!({ "last_seen": seen.to_string() }))
        .hint(later),
        (None, None) => Fault::new(
            Code::WakeFailed,
            format!("{shown} was never seen here, and no runtime is configured to start it"),
        )
        .hint(later),
    }
}

/// The line that resumes a session in its runtime, if that is one we know.
fn resume_command(session: &Presence, prompt: &str) -> Option<String> {
    let id = session.session.as_str();
    // What begins as an option does is read as one, whatever its quotes.
    if id.starts_with('-') {
        return None;
    }
    let mut words = match session.runtime.as_str() {
        "codex_cli" | "codex" => vec!["codex", "exec", "resume", id],
        "claude_code" | "claude" => vec!["claude", "--resume", id, "-p"],
        _ => return None,
    };
    words.extend(prompt.starts_with('-').then_some("--"));
    words.push(prompt);
    Some(shell::line(words))
}

/// Somebody has read up to a message: what was to wake it for that is done.
pub fn has_read(work: &mut Work<'_, '_>, thread: Id, read: i64) -> Result<()> {
    let ws = work.ws();
    for id in threads::open_wakes(work.tx, ws, thread, &work.caller.agent)? {
        let mut data = work.thing(id)?.data.clone();
        let up_to = data.get("up_to").and_then(Value::as_i64);
        if read < up_to.unwrap_or_default() {
            continue;
        }
        data.insert("result".into(), "read".into());
        let edit = Edit {
            action: "read",
            data: Some(data),
            ..Edit::default()
        };
        work.change(id, edit)?;
    }
    Ok(())
}
