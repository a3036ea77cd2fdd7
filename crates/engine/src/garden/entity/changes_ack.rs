//! `garden_changes_ack`: how far a caller has dealt with changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Seq;
use understory_model::error::{Fault, Result};
use understory_model::fact::{ChangesAck, Fact};
use understory_storage::cursors;

use super::changes::{Place, stream};
use crate::Work;

/// The answer of `garden_changes_ack`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Acknowledged {
    /// How far the caller has acknowledged changes.
    pub cursor: String,
}

/// Says that the caller has dealt with what came up to a cursor, as far as its filter let it through.
pub fn ack(work: &mut Work<'_, '_>, upto: &str) -> Result<Acknowledged> {
    let (place, ws) = (Place::decode("cursor", upto)?, work.ws());
    if place.seq >= work.next_seq() || place.seq < Seq::ZERO {
        return Err(Fault::invalid("cursor", "is beyond the end of the log"));
    }
    let agent = work.caller.agent.clone();
    let before = cursors::get(work.read()?, ws, &agent, &stream(&place.filter))?;
    if place.seq > before {
        let ack = ChangesAck {
            seq: place.seq,
            stream: (!place.filter.is_empty()).then(|| stream(&place.filter)),
        };
        work.note(None, Fact::ChangesAck(ack))?;
    }
    let seq = place.seq.max(before);
    let cursor = Place { seq, ..place }.encode();
    Ok(Acknowledged { cursor })
}
