//! `trigger_participant`: a job of waking somebody who has not read a thread.
//!
//! Here the job is kept, and the answer says which step of the ladder it begins with. A worker
//! takes the steps and records on the job what came of each. Nothing is started here, and nothing
//! is called delivered that did not reach a live session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::{AuditEvent, Fact};
use understory_model::nearest::nearest;
use understory_model::text::{check_text, quoted};
use understory_model::thread::{
    Activity, DeferReason, SessionStatus, Status, WakeAction, WakeData, WakeResult,
};
use understory_model::{Role, Time, limits, shell};
use understory_storage::presence::{self, Presence};
use understory_storage::wakes::{self, Lease};
use understory_storage::{messages, threads};

use super::ladder::Way;
use super::wake::{self, default_prompt};
use super::{Found, find_to_change, ways};
use crate::Work;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::{signs as session, who};

/// Sessions of one agent that are looked at.
const SESSIONS: i64 = 20;

/// Who is to be woken, and with what words.
#[derive(Debug, Clone)]
pub struct Wish {
    pub target: String,
    pub reason: Option<String>,
    pub prompt: Option<String>,
    /// Whether it goes on over a half-typed line and the limits on wakes.
    pub force: bool,
}

impl Check for Wish {
    fn check(&self) -> Result<()> {
        super::check_agent("target_agent_id", &self.target)?;
        if let Some(reason) = &self.reason {
            check_text("reason", reason, limits::LINE_CHARS, true)?;
        }
        if let Some(prompt) = &self.prompt {
            check_text("trigger_prompt", prompt, limits::LINE_CHARS, false)?;
        }
        if self.force && self.reason.is_none() {
            return Err(Fault::invalid("reason", "is required with `force`"));
        }
        Ok(())
    }
}

/// A step of the ladder.
struct Step {
    action: WakeAction,
    result: WakeResult,
    session: Option<Presence>,
    /// What can be done should the step fail, and with which session.
    fallback: Option<(WakeAction, Option<Presence>)>,
    /// Why it is put off, and until when.
    deferred: Option<(DeferReason, Time)>,
    /// The session whose call waits.
    waits: Option<String>,
    note: &'static str,
}

impl Step {
    fn new(action: WakeAction, result: WakeResult, note: &'static str) -> Step {
        Step {
            action,
            result,
            session: None,
            fallback: None,
            deferred: None,
            waits: None,
            note,
        }
    }
}

/// A session by which somebody can be reached, and the line that resumes it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Reached {
    pub session_id: String,
    pub runtime: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_command: Option<String>,
}

impl Reached {
    fn of(session: &Presence, prompt: &str) -> Reached {
        Reached {
            session_id: session.session.clone(),
            runtime: session.runtime.clone(),
            runtime_command: session
                .resumable
                .then(|| resume_command(session, prompt))
                .flatten(),
        }
    }
}

/// Another way to somebody.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Fallback {
    pub action: WakeAction,
    #[serde(flatten)]
    pub reached: Reached,
}

/// The answer of `trigger_participant`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Triggered {
    /// The job; absent where nobody needs to be woken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_id: Option<String>,
    pub thread_id: String,
    pub target_agent_id: String,
    pub action: WakeAction,
    pub result: WakeResult,
    /// Whether this call started a process; it never does.
    pub started: bool,
    /// Messages of others that the target has not read.
    pub unread: i64,
    pub note: String,
    pub triggered_at: Time,
    /// Why the step is put off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_reason: Option<DeferReason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_until: Option<Time>,
    /// What can be done should the action fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_action: Option<WakeAction>,
    /// As `fallback_action`, where it takes another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    #[serde(flatten)]
    pub reached: Option<Reached>,
}

pub fn trigger(work: &mut Work<'_, '_>, thread: &str, wish: &Checked<Wish>) -> Result<Triggered> {
    let found = find_to_change(work, thread)?;
    check_target(&found, &wish.target)?;
    check_force(work, wish)?;
    let ws = work.ws();
    let reader = threads::participant(work.read()?, ws, &wish.target, found.row.id)?;
    let unread = reader.map_or(found.row.last, |r| found.row.last - r.read - r.own);
    let last = messages::last_of_others(work.read()?, ws, found.row.id, &wish.target)?;
    let step = step(work, &found, &wish.target, unread, last)?;
    let prompt = match &wish.prompt {
        Some(prompt) => prompt.clone(),
        None => default_prompt(found.handle()),
    };
    let kept = if step.result.is_final() {
        None
    } else {
        Some(keep(work, &found, wish, &step, &prompt, last)?)
    };
    let (wake_id, job) = kept.unzip();
    // What became of a job that was asked for before, if it goes on.
    let (action, result) = job
        .as_ref()
        .map_or((step.action, step.result), |job| (job.action, job.result));
    let deferred = job.as_ref().filter(|_| result == WakeResult::Deferred);
    let is_step = (action, result) == (step.action, step.result);
    Ok(Triggered {
        wake_id,
        thread_id: found.handle().to_string(),
        target_agent_id: wish.target.clone(),
        action,
        result,
        started: false,
        unread,
        note: if is_step { step.note } else { goes_on(result) }.to_string(),
        triggered_at: work.now,
        defer_reason: deferred.and_then(|job| job.defer_reason),
        deferred_until: deferred.and_then(|job| job.deferred_until),
        fallback_action: step.fallback.as_ref().map(|(action, _)| *action),
        fallback: step.fallback.as_ref().and_then(|(action, session)| {
            // The one that the step itself names needs no second mention.
            let other = session.as_ref().filter(|other| {
                let own = step.session.as_ref();
                own.is_none_or(|own| own.session != other.session)
            })?;
            Some(Fallback {
                action: *action,
                reached: Reached::of(other, &prompt),
            })
        }),
        reached: step.session.as_ref().map(|one| Reached::of(one, &prompt)),
    })
}

/// What is said of a job that was asked for before and that workers have taken up.
fn goes_on(result: WakeResult) -> &'static str {
    match result {
        WakeResult::Delivered => {
            "It was asked for before, and the prompt was delivered; it is not read yet."
        }
        WakeResult::Deferred => "It was asked for before, and is put off.",
        _ => "It was asked for before; a worker takes it on. list_wakes says what was tried.",
    }
}

/// Only a person overrides what protects another person's typing, and the audit says so.
fn check_force(work: &mut Work<'_, '_>, wish: &Wish) -> Result<()> {
    if !wish.force {
        return Ok(());
    }
    if work.caller.role != Role::Operator {
        let message = "only an operator may force a wake";
        return Err(Fault::new(Code::InsufficientAuthority, message)
            .hint("Without `force` the wake waits until nobody types."));
    }
    let event = AuditEvent::WakeForced {
        target: wish.target.clone(),
        reason: wish.reason.clone().unwrap_or_default(),
    };
    work.note(None, Fact::Audit(Box::new(event))).map(drop)
}

/// Keeps the job; its handle, and what it is now. While one is open for the same thread and target it is
/// that one: asking twice does not wake anybody twice. It is done when `last` has been read.
fn keep(
    work: &mut Work<'_, '_>,
    found: &Found,
    wish: &Wish,
    step: &Step,
    prompt: &str,
    last: i64,
) -> Result<(String, WakeData)> {
    let ws = work.ws();
    let mut job = WakeData {
        thread: found.handle().to_owned(),
        target: wish.target.clone(),
        reason: wish.reason.clone(),
        prompt: prompt.to_owned(),
        action: step.action,
        result: step.result,
        up_to: last,
        asked_by: Some(work.caller.agent.clone()),
        asked_at: None,
        session: step.waits.clone(),
        channel: None,
        forced: wish.force,
        defer_reason: step.deferred.map(|(reason, _)| reason),
        deferred_until: step.deferred.map(|(_, until)| until),
        deferred_since: step.deferred.map(|_| work.now),
        delivered_at: (step.result == WakeResult::Delivered).then_some(work.now),
        tried: Vec::new(),
        more: Map::new(),
    };
    let Some(id) = threads::open_wakes(work.read()?, ws, found.row.id, &wish.target)?.pop() else {
        return wake::create(work, &job).map(|(_, handle)| (handle, job));
    };
    let before = wake::job(work, id)?;
    let handle = work.thing(id)?.entity.handle.clone();
    let lease = wakes::lease(work.read()?, ws, id)?;
    let same = (&before.prompt, &before.reason, before.up_to, before.forced)
        == (&job.prompt, &job.reason, job.up_to, job.forced);
    if same && before.asked_by == job.asked_by {
        let taken_up = lease.is_some_and(|lease| lease.attempts > 0) || !before.tried.is_empty();
        let stays = (before.action, before.result) == (job.action, job.result)
            && (job.result != WakeResult::Deferred || before.is_put_off(work.now));
        if taken_up || stays {
            return Ok((handle, before));
        }
        // Nobody has taken it up, and it would begin with another step now.
        job.asked_at = before.asked_at;
        wake::change(work, id, &job, "asked_again")?;
        return Ok((handle, job));
    }
    // What failed before is tried again: somebody asks anew.
    job.asked_at = Some(work.now);
    wake::change(work, id, &job, "asked_again")?;
    let at_work = |lease: &Lease| !lease.holder.is_empty() && lease.until >= work.now;
    if !lease.as_ref().is_some_and(at_work) {
        work.live().remove_lease(id)?;
    }
    Ok((handle, job))
}

fn check_target(found: &Found, target: &str) -> Result<()> {
    if found.has(target) {
        return Ok(());
    }
    let creator = [found.thing.entity.created_by.as_str()];
    let names = found.participants().into_iter().chain(creator);
    let near = nearest(target, names.clone(), 3);
    let near = if near.is_empty() {
        names.take(3).map(str::to_string).collect()
    } else {
        near
    };
    let shown = quoted(target);
    Err(
        Fault::not_found(format!("{shown} takes no part in {}", found.handle()))
            .hint("details.nearest names participants; update_thread_status adds one.")
            .detail("nearest", &near),
    )
}

/// The cheapest step that can reach somebody. `last` is the last message that it may not have read.
fn step(
    work: &mut Work<'_, '_>,
    found: &Found,
    target: &str,
    unread: i64,
    last: i64,
) -> Result<Step> {
    if found.row.status == Status::Closed {
        let note = "Nobody needs to be woken: the thread is closed.";
        return Ok(Step::new(WakeAction::None, WakeResult::NotNeeded, note));
    }
    if unread <= 0 {
        let note = "Nobody needs to be woken: it has read everything.";
        return Ok(Step::new(WakeAction::None, WakeResult::NotNeeded, note));
    }
    let (ws, now) = (work.ws(), work.now);
    if let Some((since, session)) =
        ways::waits_after(work.read()?, ws, target, found.handle(), now)?
    {
        return Ok(if since < last {
            let note = "It waits for messages of this thread and is being told these now.";
            Step {
                waits: Some(session),
                ..Step::new(WakeAction::WaitForMessages, WakeResult::Delivered, note)
            }
        } else {
            let note = "It waits for messages after these, so it was told of them or passed \
                them over; they stay unread until it acknowledges them.";
            Step::new(WakeAction::None, WakeResult::Queued, note)
        });
    }
    if let Some(step) = reached(work, target)? {
        return Ok(step);
    }
    let sessions = presence::of_agent(work.read()?, ws, target, SESSIONS)?;
    let live = |one: &&Presence| session::is_alive(one, now);
    let resumable = sessions
        .iter()
        .find(|one| one.resumable && !is_active(one, now));
    if let Some(managed) = sessions.iter().find(|one| one.managed && live(one)) {
        let fallback = if managed.resumable {
            Some(managed)
        } else {
            resumable
        };
        let note = "Its supervisor takes the job; nothing was started by this call.";
        return Ok(Step {
            session: Some(managed.clone()),
            fallback: fallback.map(|one| (WakeAction::ResumeSession, Some(one.clone()))),
            ..Step::new(WakeAction::TriggerRuntime, WakeResult::Queued, note)
        });
    }
    if let Some(busy) = sessions.iter().find(|one| is_active(one, now)) {
        let note = "It is at work in a session of its own and sees this at its next call of \
            wait_for_messages or graph_onboard. It is not resumed: that would be a second process \
            on a live session.";
        let mut step = Step::new(WakeAction::None, WakeResult::Queued, note);
        step.session = Some(Presence {
            resumable: false,
            ..busy.clone()
        });
        return Ok(step);
    }
    match resumable {
        Some(dormant) => Ok(resuming(dormant)),
        None if work.rules.starts_agents => {
            let note = "A worker begins a new session with a summary of the thread.";
            Ok(Step::new(
                WakeAction::SpawnSession,
                WakeResult::Queued,
                note,
            ))
        }
        None => {
            let seen = who::last_seen(work.read()?, ws, target)?;
            Err(unreachable(target, sessions.first(), seen))
        }
    }
}

/// The step for a session that its client's hooks or its supervisor reported.
fn reached(work: &mut Work<'_, '_>, target: &str) -> Result<Option<Step>> {
    let (ws, now) = (work.ws(), work.now);
    let ways = ways::known(work.read()?, ws, target, "", now)?;
    let live = ways.iter().filter(|way| way.alive);
    if let Some(way) = live.min_by_key(|way| rank(way)) {
        return Ok(Some(by_way(way, work)));
    }
    let dormant = ways.iter().find(|way| way.resumable);
    Ok(dormant.map(|way| resuming(&presence_of(way, now))))
}

/// The cheapest way first.
fn rank(way: &Way) -> u8 {
    match way.channel {
        Some(channel) if channel.begins_turns() => 0,
        Some(_) if way.activity == Activity::Busy => 1,
        _ if way.terminal.is_some() => 2,
        _ => 3,
    }
}

fn by_way(way: &Way, work: &Work<'_, '_>) -> Step {
    let (action, note) = match rank(way) {
        0 => (
            WakeAction::InSession,
            "A worker sends it the prompt through a channel of its client.",
        ),
        2 => (
            WakeAction::TriggerRuntime,
            "Its supervisor types the prompt when the terminal is idle and nobody types.",
        ),
        _ => (
            WakeAction::EndOfTurn,
            "Its client tells it at the end of its turn or with its next prompt.",
        ),
    };
    let mut step = Step::new(action, WakeResult::Queued, note);
    // It is not resumed by hand either: that would be a second process on a live session.
    step.session = Some(Presence {
        resumable: false,
        ..presence_of(way, work.now)
    });
    let reason = match (action, way.terminal) {
        (WakeAction::TriggerRuntime, Some(Activity::Typing)) => Some(DeferReason::HumanInputBusy),
        (WakeAction::TriggerRuntime, Some(Activity::Dialog)) => Some(DeferReason::DialogOpen),
        _ => None,
    };
    if let Some(reason) = reason {
        let until = work.now.0.saturating_add(work.rules.wake_recheck);
        step.result = WakeResult::Deferred;
        step.deferred = Some((reason, Time(until)));
        step.note = "It is put off until nobody types into its terminal and no dialog is open.";
    }
    step
}

/// A session that was reported, as one that gave a heartbeat.
fn presence_of(way: &Way, now: Time) -> Presence {
    Presence {
        agent: String::new(),
        session: if way.client_session.is_empty() {
            way.session.clone()
        } else {
            way.client_session.clone()
        },
        runtime: way.client.clone(),
        managed: way.terminal.is_some(),
        resumable: way.resumable,
        status: SessionStatus::Idle,
        at: now,
    }
}

fn resuming(dormant: &Presence) -> Step {
    let note = if resume_command(dormant, "").is_some() {
        "Nothing was started by this call: a worker resumes it if your settings list its \
         runtime; runtime_command does it by hand."
    } else {
        "Nothing was started, and no command that resumes it is known here."
    };
    Step {
        session: Some(dormant.clone()),
        fallback: Some((WakeAction::SpawnSession, None)),
        ..Step::new(WakeAction::ResumeSession, WakeResult::Queued, note)
    }
}

/// Whether somebody works in a session right now, so that nobody else may.
fn is_active(one: &Presence, now: Time) -> bool {
    session::status(one, now) == SessionStatus::Active
}

fn unreachable(target: &str, session: Option<&Presence>, seen: Option<Time>) -> Fault {
    let shown: String = target.chars().take(80).collect();
    let later = "It sees what is unread in graph_onboard, list_threads and wait_for_messages.";
    match (session, seen) {
        (Some(session), _) => Fault::new(
            Code::UnmanagedRuntime,
            format!("no session of {shown:?} can be typed into or resumed"),
        )
        .detail("last_heartbeat_at", session.at.to_string())
        .hint(later),
        (None, Some(seen)) => Fault::new(
            Code::WakeFailed,
            format!("{shown:?} was last seen at {seen}, and no runtime is configured to resume it"),
        )
        .detail("last_seen", seen.to_string())
        .hint(later),
        (None, None) => Fault::new(
            Code::WakeFailed,
            format!("{shown:?} was never seen here, and no runtime is configured to start it"),
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
    let mut words = match ways::client(&session.runtime) {
        "codex" => vec!["codex", "exec", "resume", id],
        "claude-code" => vec!["claude", "--resume", id, "-p"],
        _ => return None,
    };
    words.extend(prompt.starts_with('-').then_some("--"));
    words.push(prompt);
    Some(shell::line(words))
}
