//! What orients an agent whose chat begins, goes on after a compaction, or gets a new prompt: where
//! it stands, what it holds, and what others decided meanwhile. The rules are those of
//! `graph_onboard`, `get_recent_activity` and the inbox.

use serde::Deserialize;
use understory_model::answer::Answer;
use understory_model::budget::Budget;
use understory_model::error::{Code, Fault, Result};
use understory_model::record::ActivityKind;
use understory_model::{Caller, Seq, Time, Ws};
use understory_storage::hooks::{self, Answered};
use understory_storage::{ReadTx, entities, items, nodes, scratch, sessions, workspaces};

use super::untold;
use crate::graph::onboard::{self, Closed, Doing, Onboard};
use crate::kernel::content::node as fields;
use crate::kernel::content::text;
use crate::kernel::core::Thing;
use crate::records::activity::{self, Asked, Entry};
use crate::records::save;
use crate::records::session::Mark;
use crate::{Engine, Request, View};

/// Things of a kind that are looked at.
const LOOKED_AT: i64 = 20;
/// Answers of hooks are forgotten after this long, in microseconds.
const FORGOTTEN: i64 = 30 * 24 * 3_600 * 1_000_000;
/// How long the same event without a name of its turn counts as one that was fired twice.
const TWICE: i64 = 10 * 1_000_000;

/// What an agent holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Held {
    /// The tasks that it claimed.
    pub claims: Vec<Claim>,
    /// The records that it has active.
    pub records: Vec<Active>,
}

/// A claimed task.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub handle: String,
    pub summary: String,
    /// Its working text, if it has one.
    pub scratchpad: Option<String>,
}

/// An active record.
#[derive(Debug, Clone, PartialEq)]
pub struct Active {
    pub handle: String,
    pub title: String,
}

/// What others did since a moment.
#[derive(Debug, Default)]
pub struct News {
    /// Records that got another state.
    pub decided: Vec<Entry>,
    pub closed: Vec<Closed>,
    pub claimed: Vec<Doing>,
}

impl News {
    pub fn is_empty(&self) -> bool {
        self.decided.is_empty() && self.closed.is_empty() && self.claimed.is_empty()
    }
}

/// What identifies the firing of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firing {
    pub event: &'static str,
    pub turn: String,
    /// Whether the client names the turn, rather than that it was made of what the event holds.
    pub named: bool,
}

/// Notes that a hook is answered; false if it was already, for clients fire some twice.
pub fn answer(view: &mut View<'_, '_>, firing: &Firing) -> Result<bool> {
    let one = Answered {
        session: view.caller.session.clone(),
        event: firing.event.to_owned(),
        turn: firing.turn.clone(),
        at: view.now,
    };
    hooks::forget(view.tx, view.ws, view.now.minus(FORGOTTEN))?;
    hooks::answer(view.tx, view.ws, &one, since(view.now, firing))
}

/// Whether a hook is answered already.
pub fn is_answered(view: &mut View<'_, '_>, firing: &Firing) -> Result<bool> {
    let before = hooks::of(view.tx, view.ws, &view.caller.session, firing.event)?;
    let since = since(view.now, firing);
    Ok(before.is_some_and(|before| before.turn == firing.turn && before.at >= since))
}

/// From when on the same firing counts as one.
fn since(now: Time, firing: &Firing) -> Time {
    if firing.named {
        Time::ZERO
    } else {
        now.minus(TWICE)
    }
}

/// Where the caller's project stands, as `graph_onboard` says it.
pub fn standing(view: &mut View<'_, '_>) -> Result<Onboard> {
    match onboard::onboard(view, None, &Budget::default())? {
        Answer::Whole(onboard) => Ok(onboard),
        Answer::Json(json) => Onboard::deserialize(&json).map_err(|error| {
            let problem = format!("an answer does not have its type: {error}");
            Fault::new(Code::Internal, problem)
        }),
    }
}

/// When the agent last wrote something or its session was last told something: what came later is
/// news.
pub fn last_here(view: &mut View<'_, '_>) -> Result<Option<Time>> {
    let wrote = items::last_of(view.tx, view.ws, &view.caller.agent)?;
    let told = untold::last_telling(view)?;
    Ok(wrote.map(|one| one.at).max(told.map(|one| one.at)))
}

/// The place of the end of the log.
pub fn head(view: &mut View<'_, '_>) -> Result<Seq> {
    let head = workspaces::head(view.tx, view.ws, false)?;
    Ok(head.map_or(Seq::ZERO, |head| head.seq))
}

/// What the caller's session holds.
pub fn held(view: &mut View<'_, '_>) -> Result<Held> {
    let (tx, ws, caller) = (&mut *view.tx, view.ws, view.caller);
    let stale = view.now.minus(view.rules.claim_ttl);
    Ok(Held {
        claims: claims(tx, ws, caller, stale)?,
        records: records(tx, ws, caller)?,
    })
}

fn claims(tx: &mut ReadTx<'_>, ws: Ws, caller: &Caller, stale: Time) -> Result<Vec<Claim>> {
    let holder = (caller.agent.as_str(), caller.session.as_str());
    let mut claims = Vec::new();
    for handle in nodes::claimed_by(tx, ws, holder, stale, LOOKED_AT)? {
        let Some(entity) = entities::by_handle(tx, ws, &handle)? else {
            continue;
        };
        let thing = Thing::open(entity)?;
        let scratch = scratch::get(tx, ws, thing.entity.id)?.map(|one| one.text);
        claims.push(Claim {
            summary: fields::summary(&thing.data).to_owned(),
            scratchpad: scratch.filter(|text| !text.is_empty()),
            handle,
        });
    }
    Ok(claims)
}

fn records(tx: &mut ReadTx<'_>, ws: Ws, caller: &Caller) -> Result<Vec<Active>> {
    let mut records = Vec::new();
    for session in sessions::named(tx, ws, &caller.session)? {
        for handle in sessions::held(tx, ws, session.id, None, LOOKED_AT)? {
            if let Some(entity) = entities::by_handle(tx, ws, &handle)? {
                let thing = Thing::open(entity)?;
                let title = text(&thing.data, "title").to_owned();
                records.push(Active { handle, title });
            }
        }
    }
    Ok(records)
}

/// What others decided, closed and claimed since a moment.
pub fn news(view: &mut View<'_, '_>, standing: &Onboard, since: Time) -> Result<News> {
    let caller = view.caller;
    let asked = Asked {
        since: Some(Time(since.0.saturating_add(1))),
        types: vec![ActivityKind::StateTransition],
        limit: LOOKED_AT,
        ..Asked::default()
    };
    let mut decided = activity::recent(view, None, &asked)?.activity;
    decided.retain(|one| one.details.agent != caller.agent);
    let closed = standing.recent.iter().flatten();
    let closed = closed.filter(|one| one.at > since && one.by != caller.agent);
    let claimed = standing.in_progress.iter().flatten();
    let claimed = claimed.filter(|one| one.since > since && one.by != caller.agent);
    Ok(News {
        decided,
        closed: closed.cloned().collect(),
        claimed: claimed.cloned().collect(),
    })
}

impl Engine {
    /// Marks in the log how far a session got, as `save_session` does; whether it has anything to
    /// mark.
    pub fn keep_session(&self, caller: &Caller, note: String) -> Result<bool> {
        let request = Request {
            tool: "save_session",
            scope: String::new(),
            key: None,
            arguments: serde_json::Value::Null,
            cause: None,
            project: None,
        };
        let mark = Mark::new(None, None, Some(note))?;
        let saved = self.write(caller, request, move |work| save::save(work, &mark));
        match saved {
            Ok(_) => Ok(true),
            Err(fault) if fault.code == Code::SessionNotFound => Ok(false),
            Err(fault) => Err(fault),
        }
    }
}
