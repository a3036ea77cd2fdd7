//! `get_thread`: what a thread is, who takes part, and how far each has read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Time;
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_model::id::message_name;
use understory_model::thread::{Mode, Purpose, SessionStatus, Status};
use understory_storage::presence::Presence;
use understory_storage::threads::{self, Participant};
use understory_storage::{turns, waits};

use super::wait::waits_on;
use super::wakes::Waking;
use super::{Found, Turned, find};
use crate::View;
use crate::kernel::content::message::participants;
use crate::kernel::content::text;
use crate::kernel::{signs as session, who};

/// Jobs of waking that a thread shows, the last ones.
const WAKES: i64 = 5;
/// Changes of its status and participants that it shows, the last ones.
const CHANGES: i64 = 5;

/// The answer of `get_thread`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    pub thread_id: String,
    pub workspace_id: String,
    pub title: String,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    pub status: Status,
    /// Who was named as a participant; the creator of the thread takes part anyway.
    pub participants: Vec<String>,
    pub created_by: String,
    pub created_at: Time,
    pub updated_at: Time,
    /// The number of its last message; 0 before the first.
    pub last_seq: i64,
    pub open_findings: i64,
    /// Open findings, and requests that nobody has answered.
    pub open_items: i64,
    /// The last changes of its status and participants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Turned>,
    /// Who takes part or reads along, and how far each has read.
    pub readers: Vec<Reading>,
    /// The last jobs of waking a participant, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wakes: Vec<Waking>,
    /// How far the caller has read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_read_seq: Option<i64>,
    /// Messages of others that the caller has not read, if it takes part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<i64>,
}

impl Fit for Thread {
    const SHAPE: Shape = Shape::ListsOrNothing(&["/readers", "/participants", "/changes"]);
}

/// How far somebody has read, and whether it is there.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    pub agent_id: String,
    pub last_read_seq: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_acked_message_id: Option<String>,
    /// When it acknowledged that message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Time>,
    /// When it last wrote something or gave a sign of life; absent if it was never seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive: Option<bool>,
    /// A call of it waits for messages of this thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    #[serde(flatten)]
    pub session: Option<Heard>,
}

/// What the last heartbeat of an agent said of its session.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Heard {
    pub session_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub runtime: String,
    pub management_mode: Mode,
    pub resumable: bool,
    pub status: SessionStatus,
    pub last_heartbeat_at: Time,
}

/// `get_thread`.
pub fn get(view: &mut View<'_, '_>, handle: &str) -> Result<Thread> {
    let found = find(view, handle)?;
    let (entity, data, row) = (&found.thing.entity, &found.thing.data, &found.row);
    let reader = threads::participant(view.tx, view.ws, &view.caller.agent, row.id)?;
    let changes = turns::between(view.tx, view.ws, row.id, 0, i64::MAX, CHANGES)?;
    let changes = changes.iter().map(|(turn, item)| Turned::of(turn, item));
    let wakes = threads::wakes(view.tx, view.ws, row.id, WAKES)?;
    let wakes = wakes
        .into_iter()
        .map(Waking::of)
        .collect::<Result<Vec<_>>>()?;
    let unread = |reader: &Participant| row.last - reader.read - reader.own;
    Ok(Thread {
        thread_id: entity.handle.clone(),
        workspace_id: view.name.to_string(),
        title: text(data, "title").to_string(),
        purpose: Purpose::parse(text(data, "type")),
        status: row.status,
        participants: participants(data).map(str::to_string).collect(),
        created_by: entity.created_by.clone(),
        created_at: entity.created_at,
        updated_at: row.updated,
        last_seq: row.last,
        open_findings: row.open_findings,
        open_items: row.open_findings + row.open_asks,
        changes: changes.collect(),
        readers: readers(view, &found)?,
        wakes: wakes.into_iter().flatten().collect(),
        last_read_seq: reader.as_ref().map(|reader| reader.read),
        unread: reader.filter(|reader| reader.member).as_ref().map(unread),
    })
}

/// Everybody in a thread.
fn readers(view: &mut View<'_, '_>, found: &Found) -> Result<Vec<Reading>> {
    let waiting = waits::of_thread(view.tx, view.ws, found.row.id, view.now)?;
    let waits = |agent: &str| {
        let mut own = waiting.iter().filter(|one| one.agent == agent);
        own.any(|one| waits_on(one, found.handle()).is_some())
    };
    let alive = who::alive(view)?;
    let readers = threads::readers(view.tx, view.ws, found.row.id)?;
    let readers = readers.into_iter().map(|one| {
        let seen = who::last_seen(view.tx, view.ws, &one.agent)?;
        Ok(Reading {
            last_read_seq: one.read,
            last_acked_message_id: one.acked.map(message_name),
            updated_at: one.acked.map(|_| one.updated),
            last_seen: seen,
            alive: seen.map(|_| alive.contains(&one.agent)),
            waits: waits(&one.agent),
            session: one.alive.map(|beat| heard(beat, view.now)),
            agent_id: one.agent,
        })
    });
    readers.collect()
}

fn heard(beat: Presence, now: Time) -> Heard {
    Heard {
        management_mode: Mode::of(beat.managed),
        resumable: beat.resumable,
        status: session::status(&beat, now),
        last_heartbeat_at: beat.at,
        session_id: beat.session,
        runtime: beat.runtime,
    }
}
