//! JSON objects whose fields come from more than one place.

use serde_json::Value;

/// A JSON object with more fields; those of the same name are replaced.
pub fn with<const N: usize>(mut object: Value, more: [(&str, Value); N]) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    object
}
