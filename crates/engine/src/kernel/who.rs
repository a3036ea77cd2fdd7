//! Who is here: every session that is alive or did something a short while ago, which agent it is, and
//! what it is on.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Fault, Result};
use understory_model::thread::{Mode, SessionStatus};
use understory_model::{Caller, Time, Ws, limits};
use understory_storage::presence::{self, Presence};
use understory_storage::sessions::{self, Session};
use understory_storage::{ReadTx, entities, items, nodes, terminals};

use crate::View;
use crate::kernel::alive::Alive;
use crate::kernel::{project, signs};

/// Items that are looked at to see who wrote lately.
const NEWEST: i64 = 1_000;
/// Sessions of any kind that are looked at, and things that one of them is said to be on.
const LOOKED_AT: i64 = 200;
const HELD: i64 = 10;
/// Others that an answer which orients names, and what each of them is on.
const NAMED: usize = 5;
const ON: usize = 3;

/// One session, and all that is known of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    pub agent: String,
    pub session_id: String,
    pub alive: bool,
    pub last_seen: Time,
    pub status: SessionStatus,
    /// What it runs in: what it said, else what its client calls itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub runtime: String,
    pub management_mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The records that it has active, and the tasks that it claimed.
    pub on: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    pub is_current: bool,
}

/// Another agent, in few words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Brief {
    pub agent: String,
    pub alive: bool,
    /// When it last did something or gave a sign of life.
    pub seen: Time,
    /// What it works on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<String>,
}

/// What is known of a session before it is told.
#[derive(Default)]
struct Known {
    seen: Time,
    client: Option<String>,
    project: Option<String>,
    beat: Option<Presence>,
    work: Vec<Session>,
}

/// Agent and session.
type Key = (String, String);

/// Everybody who is alive or was seen within the conflict window; of one agent, all its sessions.
pub fn here(view: &mut View<'_, '_>, caller: &Caller, agent: Option<&str>) -> Result<Vec<Seen>> {
    let alive = Alive::of(view.tx, view.ws, view.now)?;
    let since = match agent {
        Some(_) => Time::ZERO,
        None => view.now.minus(view.rules.conflict_window),
    };
    let mut known: BTreeMap<Key, Known> = BTreeMap::new();
    by_name(view, &alive, agent, &mut known)?;
    by_sign(view, since, agent, &mut known)?;
    by_work(view, since, agent, &mut known)?;
    let mut all = Vec::new();
    for ((agent, session), one) in known {
        all.push(told(view, caller, &alive, (agent, session), one)?);
    }
    all.sort_by(|one, other| {
        let order = |seen: &Seen| (!seen.alive, -seen.last_seen.0);
        order(one).cmp(&order(other))
    });
    Ok(all)
}

/// The others who are here, for an answer that orients.
pub fn brief(view: &mut View<'_, '_>, caller: &Caller) -> Result<Vec<Brief>> {
    let mut all = here(view, caller, None)?;
    all.retain(|one| one.agent != caller.agent);
    let mut named: Vec<Brief> = Vec::new();
    for one in all {
        if named.len() == NAMED {
            break;
        }
        if named.iter().all(|there| there.agent != one.agent) {
            named.push(Brief {
                agent: one.agent,
                alive: one.alive,
                seen: one.last_seen,
                on: one.on.into_iter().take(ON).collect(),
            });
        }
    }
    Ok(named)
}

/// The agents that have a live session.
pub fn alive(view: &mut View<'_, '_>) -> Result<BTreeSet<String>> {
    Alive::of(view.tx, view.ws, view.now)?.agents(view.tx, view.ws, "")
}

/// When an agent last wrote something or gave a sign of life.
pub fn last_seen(tx: &mut ReadTx<'_>, ws: Ws, agent: &str) -> Result<Option<Time>> {
    let wrote = items::last_of(tx, ws, agent)?.map(|one| one.at);
    let beat = presence::of_agent(tx, ws, agent, 1)?;
    Ok(wrote.max(beat.first().map(|one| one.at)))
}

/// Adds the sessions that have a process, or once had one.
fn by_name(
    view: &mut View<'_, '_>,
    alive: &Alive,
    agent: Option<&str>,
    known: &mut BTreeMap<Key, Known>,
) -> Result<()> {
    let names = match agent {
        Some(agent) => {
            let mut names = presence::names(view.tx, view.ws, LOOKED_AT)?;
            names.retain(|one| one.agent == agent);
            names
        }
        None => alive.seated(view.tx, view.ws)?,
    };
    for name in names {
        let one = known.entry((name.agent, name.session)).or_default();
        one.seen = one.seen.max(name.since);
        one.client = Some(name.client);
        one.project = Some(name.project);
    }
    Ok(())
}

/// Adds those who gave a sign of life or wrote something.
fn by_sign(
    view: &mut View<'_, '_>,
    since: Time,
    agent: Option<&str>,
    known: &mut BTreeMap<Key, Known>,
) -> Result<()> {
    let beats = match agent {
        Some(agent) => presence::of_agent(view.tx, view.ws, agent, LOOKED_AT)?,
        None => presence::since(view.tx, view.ws, since, LOOKED_AT)?,
    };
    for beat in beats {
        let key = (beat.agent.clone(), beat.session.clone());
        let one = known.entry(key).or_default();
        one.seen = one.seen.max(beat.at);
        one.beat = Some(beat);
    }
    let writers = match agent {
        Some(agent) => items::last_of(view.tx, view.ws, agent)?
            .into_iter()
            .collect(),
        None => items::writers(view.tx, view.ws, since, NEWEST)?,
    };
    for writer in writers {
        let one = known.entry((writer.agent, writer.session)).or_default();
        one.seen = one.seen.max(writer.at);
    }
    Ok(())
}

/// Adds those who work on records.
fn by_work(
    view: &mut View<'_, '_>,
    since: Time,
    agent: Option<&str>,
    known: &mut BTreeMap<Key, Known>,
) -> Result<()> {
    let mut works = match agent {
        Some(agent) => sessions::of_agent(view.tx, view.ws, agent, LOOKED_AT)?,
        None => sessions::active_since(view.tx, view.ws, since, LOOKED_AT)?,
    };
    if agent.is_none() {
        // One that is alive may have been at work long ago.
        for (_, session) in known.keys() {
            if works.iter().all(|work| work.name != *session) {
                works.extend(sessions::named(view.tx, view.ws, session)?);
            }
        }
    }
    for work in works {
        let key = (work.agent.clone(), work.name.clone());
        let one = match known.get_mut(&key) {
            Some(one) => one,
            None if work.open || agent.is_some() => known.entry(key).or_default(),
            None => continue,
        };
        one.seen = one.seen.max(work.last_activity);
        one.work.push(work);
    }
    Ok(())
}

fn told(
    view: &mut View<'_, '_>,
    caller: &Caller,
    alive: &Alive,
    (agent, session): Key,
    one: Known,
) -> Result<Seen> {
    let is_alive = alive.has(&session);
    let (mut on, mut home) = (Vec::new(), None);
    for work in &one.work {
        let room = HELD - on.len() as i64;
        on.extend(sessions::held(view.tx, view.ws, work.id, None, room)?);
        home = Some(work.project);
    }
    let stale = view.now.minus(view.rules.claim_ttl);
    let claimed = nodes::claimed_by(view.tx, view.ws, (&agent, &session), stale, HELD)?;
    on.extend(
        claimed
            .into_iter()
            .take(usize::try_from(HELD).unwrap_or(0) - on.len()),
    );
    let home = match home {
        Some(id) => entities::get(view.tx, view.ws, id)?
            .map(|entity| project::name_of(&entity.handle).to_owned()),
        None => one.project,
    };
    let said = one.beat.as_ref();
    let status = match said.map(|beat| signs::status(beat, view.now)) {
        Some(status) if status != SessionStatus::Offline => status,
        _ if is_alive => SessionStatus::Active,
        _ => SessionStatus::Offline,
    };
    let runtime = said.map(|beat| beat.runtime.clone());
    let first = one.work.first();
    let terminal = terminals::of(view.tx, view.ws, &session)?;
    let is_managed = (is_alive && terminal.is_some()) || said.is_some_and(|beat| beat.managed);
    let in_terminal = terminal.map(|one| one.program);
    Ok(Seen {
        is_current: session == caller.session,
        alive: is_alive,
        last_seen: one.seen,
        status,
        runtime: runtime
            .filter(|runtime| !runtime.is_empty())
            .or(in_terminal)
            .or(one.client)
            .unwrap_or_default(),
        management_mode: Mode::of(is_managed),
        project: home,
        on,
        created: first.map(|work| work.created),
        parent_session: first.and_then(|work| work.parent.clone()),
        agent,
        session_id: session,
    })
}

/// The name of an agent, as a payload gives it; one of before names were checked is found too.
pub fn check_agent(field: &str, name: &str) -> Result<()> {
    understory_model::text::check_text(field, name, limits::NAME_CHARS, false)?;
    if name.trim() != name || name.chars().any(char::is_control) {
        let problem = "has spaces at an end or control characters";
        return Err(Fault::invalid(field, problem));
    }
    Ok(())
}
