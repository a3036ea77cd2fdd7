//! How far the caller has read: `ack_read`, and what a wait acknowledges. It never goes back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Time;
use understory_model::error::{Fault, Result};
use understory_model::fact::{Fact, ReadAck};
use understory_model::id::message_name;
use understory_storage::threads::Participant;
use understory_storage::{messages, threads, turns};

use super::wait::Place;
use super::{Found, find_to_change, wake};
use crate::Work;

/// The answer of `ack_read`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Acked {
    pub ok: bool,
    pub last_read_seq: i64,
    /// When the caller got so far; a repeated acknowledgement does not change it.
    pub updated_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_acked_message_id: Option<String>,
}

/// `ack_read`: up to a message, and all changes of the thread so far.
pub fn ack(work: &mut Work<'_, '_>, thread: &str, read: i64) -> Result<Acked> {
    let (ws, found) = (work.ws(), find_to_change(work, thread)?);
    let caller = work.caller;
    let there = threads::participant(work.read()?, ws, &caller.agent, found.row.id)?;
    let before = there.as_ref().map_or(0, |there| there.read);
    check(&found, before, read)?;
    let updated = match there.filter(|there| there.read == read && there.seen == found.row.changes)
    {
        // Nothing new: the answer is that of the first time.
        Some(there) => there.updated,
        None => {
            note(work, &found, read, found.row.changes)?;
            work.now
        }
    };
    wake::has_read(work, found.row.id, read)?;
    let message = messages::seq_of(work.read()?, ws, found.row.id, read)?;
    Ok(Acked {
        ok: true,
        last_read_seq: read,
        updated_at: updated,
        last_acked_message_id: message.map(message_name),
    })
}

/// What a wait was told last is read: exactly that, and a retry changes nothing.
pub fn up_to(work: &mut Work<'_, '_>, thread: &str, place: &Place) -> Result<()> {
    let (ws, found) = (work.ws(), find_to_change(work, thread)?);
    let agent = work.caller.agent.clone();
    let there = threads::participant(work.read()?, ws, &agent, found.row.id)?;
    let (before, known) = there.map_or((0, 0), |Participant { read, seen, .. }| (read, seen));
    let read = before.max(place.seq.unwrap_or(0));
    let seen = match place.changes {
        Some(seen) => seen,
        // A session that was told of a message was told of the changes before it.
        None => turns::before(work.read()?, ws, found.row.id, read)?,
    };
    if read > found.row.last || seen > found.row.changes {
        let problem = format!("goes beyond the end of {}", found.handle());
        return Err(Fault::invalid("ack", problem)
            .detail("field", "ack")
            .detail("last_seq", found.row.last)
            .hint("Give `next` of the last answer of wait_for_messages as it was."));
    }
    let seen = known.max(seen);
    if (read, seen) != (before, known) {
        note(work, &found, read, seen)?;
    }
    wake::has_read(work, found.row.id, read)
}

fn note(work: &mut Work<'_, '_>, found: &Found, read: i64, seen: i64) -> Result<()> {
    let ack = ReadAck {
        changes: (found.row.changes > 0).then_some(seen),
        n: read,
        thread: found.handle().to_string(),
    };
    work.note_about(found.row.id, Fact::ReadAck(ack)).map(drop)
}

fn check(found: &Found, before: i64, read: i64) -> Result<()> {
    let last = found.row.last;
    let problem = match read {
        _ if read < 0 => "is below 0".to_string(),
        _ if read < before => format!("is below {before}, which is read already"),
        _ if read > last => format!("is beyond {last}, the last message"),
        _ => return Ok(()),
    };
    Err(Fault::invalid("last_read_seq", problem)
        .detail("last_read_seq", before)
        .detail("last_seq", last)
        .hint("Name the seq of the last message that you have read."))
}
