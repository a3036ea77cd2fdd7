//! What items and entities say, as every surface may read it.

pub mod artifact_delta;
pub mod brief;
pub mod call;
pub mod event;
pub mod message;
pub mod node;
pub mod record;
pub mod relation;
pub mod session_event;

use serde_json::{Map, Value};
use understory_model::fact::Content;
use understory_model::item::Item;

pub fn text<'d>(data: &'d Map<String, Value>, field: &str) -> &'d str {
    data.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// What an item of the garden says; `None` for those of other surfaces.
pub fn content(item: &Item) -> Option<Content> {
    serde_json::from_str(item.content.as_deref()?).ok()
}
