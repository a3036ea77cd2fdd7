//! A message as it stands in the log.

use serde_json::{Map, Value};
use understory_model::fact::Fact;
use understory_model::item::Item;

pub use understory_model::fact::Message as Said;

/// What a message's item says; `None` if it is not one or cannot be read.
pub fn said(item: &Item) -> Option<Said> {
    match Fact::read(item) {
        Ok(Fact::Message(said)) => Some(*said),
        _ => None,
    }
}

/// Who was named as a participant in a thread's value.
pub fn participants(data: &Map<String, Value>) -> impl Iterator<Item = &str> + Clone {
    let named = data.get("participants").and_then(Value::as_array);
    named.into_iter().flatten().filter_map(Value::as_str)
}
