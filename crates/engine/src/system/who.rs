//! `who`: the agents that are here, what each works on, and how each can be reached.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::Result;
use understory_model::thread::{Activity, Mode, ReachBy};
use understory_model::{Caller, Time};
use understory_storage::presence;
use understory_storage::reach::{self, Reach};
use understory_storage::{terminals, waits};

use crate::View;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::who::{self, Seen, check_agent};

/// Sessions of one agent of which it is asked whether they can be resumed.
const SESSIONS: i64 = 20;

/// Who is wanted.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Only this agent, whenever it was seen.
    pub agent: Option<String>,
    /// Also those who went a short while ago.
    pub gone: bool,
}

impl Check for Wanted {
    fn check(&self) -> Result<()> {
        self.agent
            .as_deref()
            .map_or(Ok(()), |agent| check_agent("agent", agent))
    }
}

/// The answer of `who`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Who {
    /// Those who are alive first, then by when they were last seen.
    pub agents: Vec<Agent>,
}

/// An agent, as all its sessions together show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    pub agent: String,
    /// It is the caller.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub you: bool,
    /// No session of it is alive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
    /// The client that it works in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The tasks that it claimed and the records that it has active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<String>,
    /// When its first session of these came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    pub seen: Time,
    /// How a message reaches it: a call of it waits (waiting), a channel of its client begins a
    /// turn (in_session), its terminal is typed into (terminal), a hook tells it at the end of its
    /// turn (end_of_turn), its session can be resumed (resume), or it sees it when it asks
    /// (unread_only).
    pub reach: ReachBy,
    /// What its client was last known to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<Activity>,
    /// How many of its sessions are alive, if several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<usize>,
}

impl Fit for Who {
    const SHAPE: Shape = Shape::List {
        list: "agents",
        drop: Drop::Last,
    };
}

/// Who is here.
pub fn who(view: &mut View<'_, '_>, caller: &Caller, wanted: &Checked<Wanted>) -> Result<Who> {
    let mut seen = who::here(view, caller, wanted.agent.as_deref())?;
    if !wanted.gone && wanted.agent.is_none() {
        seen.retain(|one| one.alive);
    }
    let mut groups: Vec<Vec<Seen>> = Vec::new();
    for one in seen {
        let there = groups.iter_mut().find(|all| all[0].agent == one.agent);
        match there {
            Some(all) => all.push(one),
            None => groups.push(vec![one]),
        }
    }
    let agents = groups.into_iter().map(|all| agent(view, caller, all));
    Ok(Who {
        agents: agents.collect::<Result<_>>()?,
    })
}

/// An agent of its sessions, the first of which is the last seen.
fn agent(view: &mut View<'_, '_>, caller: &Caller, all: Vec<Seen>) -> Result<Agent> {
    let alive = all.iter().filter(|one| one.alive).count();
    // What the gone sessions of a live agent held is not what it works on.
    let mut counted: Vec<Seen> = all;
    if alive > 0 {
        counted.retain(|one| one.alive);
    }
    let name = counted.first().map(|one| one.agent.clone());
    let name = name.unwrap_or_default();
    let (reach, activity) = reached(view, &name, &counted)?;
    let mut on = BTreeSet::new();
    let (mut client, mut project, mut since) = (String::new(), None, None::<Time>);
    let mut seen = Time::ZERO;
    for one in counted {
        // On a server, no process has a place that would lead to its name.
        let name = presence::name_of(view.tx, view.ws, &one.session_id)?;
        on.extend(one.on);
        seen = seen.max(one.last_seen);
        let came = name.as_ref().map(|name| name.since).or(one.created);
        since = match (since, came) {
            (Some(before), Some(came)) => Some(before.min(came)),
            (before, came) => before.or(came),
        };
        if client.is_empty() {
            client = one.runtime;
        }
        if client.is_empty() {
            client = name.map(|name| name.client).unwrap_or_default();
        }
        project = project.or(one.project);
    }
    Ok(Agent {
        you: name == caller.agent,
        gone: alive == 0,
        agent: name,
        client,
        project,
        on: on.into_iter().collect(),
        since,
        seen,
        reach,
        activity,
        sessions: (alive > 1).then_some(alive),
    })
}

/// How the best reachable of an agent's sessions can be reached, and what it does.
fn reached(
    view: &mut View<'_, '_>,
    agent: &str,
    sessions: &[Seen],
) -> Result<(ReachBy, Option<Activity>)> {
    let (mut best, mut doing) = (ReachBy::UnreadOnly, None);
    if !waits::of_agent(view.tx, view.ws, agent, view.now)?.is_empty() {
        best = ReachBy::Waiting;
    }
    let beats = presence::of_agent(view.tx, view.ws, agent, SESSIONS)?;
    for one in sessions {
        let way = reach::of(view.tx, view.ws, &one.session_id)?;
        let resumable = beats
            .iter()
            .any(|beat| beat.session == one.session_id && beat.resumable);
        // The words are in the order from the quickest way to none.
        best = best.min(by(one, way.as_ref(), resumable));
        let shown = terminals::of(view.tx, view.ws, &one.session_id)?.map(|one| one.activity);
        let doing_now = shown.or(way.map(|way| way.activity));
        doing = doing.or(doing_now.filter(|_| one.alive));
    }
    Ok((best, doing))
}

fn by(one: &Seen, way: Option<&Reach>, resumable: bool) -> ReachBy {
    if !one.alive {
        let named = way.is_some_and(|way| !way.client_session.is_empty());
        return if resumable || named {
            ReachBy::Resume
        } else {
            ReachBy::UnreadOnly
        };
    }
    let managed = one.management_mode == Mode::Managed;
    match way.map(|way| way.channel) {
        Some(channel) if channel.begins_turns() => ReachBy::InSession,
        _ if managed => ReachBy::Terminal,
        Some(_) => ReachBy::EndOfTurn,
        None => ReachBy::UnreadOnly,
    }
}
