//! `ack_read`: how far the caller has read. It never goes back.

use serde_json::{Value, json};
use understory_model::error::{Fault, Result};
use understory_model::id::message_name;
use understory_storage::{messages, threads};

use super::{Found, READ_ACK, find_to_change, wake};
use crate::Work;

pub fn ack(work: &mut Work<'_, '_>, thread: &str, read: i64) -> Result<Value> {
    let (ws, found) = (work.ws(), find_to_change(work, thread)?);
    let there = threads::participant(work.tx, ws, &work.caller.agent, found.row.id)?;
    let before = there.as_ref().map_or(0, |there| there.read);
    check(&found, before, read)?;
    let updated = match there.filter(|there| there.read == read) {
        // Nothing new: the answer is that of the first time.
        Some(there) => there.updated,
        None => {
            let content = json!({ "thread": found.handle(), "n": read });
            work.note_about(READ_ACK, found.row.id, &content)?;
            wake::has_read(work, found.row.id, read)?;
            work.now
        }
    };
    let mut answer = json!({
        "ok": true,
        "last_read_seq": read,
        "updated_at": updated.to_string(),
    });
    if let Some(seq) = messages::seq_of(work.tx, ws, found.row.id, read)? {
        answer["last_acked_message_id"] = message_name(seq).into();
    }
    Ok(answer)
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
        .details(json!({ "last_read_seq": before, "last_seq": last }))
        .hint("Name the seq of the last message that you have read."))
}
