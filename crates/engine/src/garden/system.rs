//! `SystemEvent`: what the server itself reports in a conversation, so that a reader of only that
//! one learns what came of those beside it.

use serde::Serialize;
use serde_json::{Map, Value};
use understory_model::answer::json_of;
use understory_model::error::Result;
use understory_model::{Id, Seq};

use crate::Work;
use crate::garden::timeline::add;
use crate::kernel::content::event::Event;
use crate::kinds::SYSTEM_EVENT;

/// What a report says.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Payload<'p> {
    Conversation {
        /// `uuid_<uuid>`.
        log: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'p str>,
        /// What came of it, where it was collapsed.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<&'p str>,
    },
    Proposal {
        proposal: &'p str,
        artifact: &'p str,
        label: &'p str,
        /// The commit that accepting it made.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<&'p str>,
    },
}

/// Reports an event in a conversation.
pub fn report(
    work: &mut Work<'_, '_>,
    (project, log): (Id, Id),
    event: Event,
    payload: &Payload<'_>,
) -> Result<Seq> {
    let mut fields = Map::new();
    fields.insert("event_type".into(), event.name().into());
    fields.insert("payload".into(), json_of(payload)?);
    add::append(work, project, log, SYSTEM_EVENT, fields, None)
}

/// What a report of a conversation says of it.
pub fn about(log: Option<String>, data: &Map<String, Value>) -> Payload<'_> {
    Payload::Conversation {
        log,
        title: data.get("title").and_then(Value::as_str),
        summary: None,
    }
}
