//! `SystemEvent`: what the server itself reports in a conversation, so that whoever reads only that
//! one learns what came of those beside it.

use serde_json::{Map, Value, json};
use understory_model::error::Result;
use understory_model::{Id, Seq};

use crate::Work;
use crate::garden::timeline::add;
use crate::kernel::content::event::Event;
use crate::kinds::SYSTEM_EVENT;

/// Reports an event in a conversation.
pub fn report(
    work: &mut Work<'_, '_>,
    (project, log): (Id, Id),
    event: Event,
    payload: Value,
) -> Result<Seq> {
    let mut fields = Map::new();
    fields.insert("event_type".into(), event.name().into());
    fields.insert("payload".into(), payload);
    add::append(work, project, log, SYSTEM_EVENT, fields, None)
}

/// What a report of a conversation says of it.
pub fn about(uuid: Option<&str>, data: &Map<String, Value>) -> Value {
    let mut payload = json!({ "log": uuid });
    if let Some(title) = data.get("title").filter(|title| title.is_string()) {
        payload["title"] = title.clone();
    }
    payload
}
