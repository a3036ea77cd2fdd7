//! What bounds the arguments of every tool: how many entries a list has, how long a text is, and
//! whether it may hold NUL. A field that says nothing has the defaults set here.
//!
//! A field says more in its schema: `maxItems` and `maxProperties` are listed to clients; [`LONG`] and
//! [`NUL`] are for the check alone and must never be listed.

use serde_json::{Map, Value};
use understory_model::limits;

/// Marks a text whose own limit, in bytes, its rule checks.
pub const LONG: &str = "x-long";
/// Marks a text that may hold NUL, because it is kept inside JSON, where NUL is escaped.
pub const NUL: &str = "x-nul";

/// Gives every list of a schema that says no maximum the default one.
pub fn bounded(schema: &mut Value) {
    each(schema, &mut |schema| {
        // Without `items` it is a value of the caller's own making, bounded by its size in bytes.
        if schema.contains_key("items") {
            let most = Value::from(limits::LIST);
            schema.entry("maxItems").or_insert(most);
        }
    });
}

/// Takes away what only the check reads.
pub fn listed(schema: &mut Value) {
    each(schema, &mut |schema| {
        schema.remove(LONG);
        schema.remove(NUL);
    });
}

/// Visits a schema and those inside it.
fn each(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(map) = schema else { return };
    visit(map);
    if let Some(Value::Object(fields)) = map.get_mut("properties") {
        fields.values_mut().for_each(|field| each(field, visit));
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(inner) {
            each(inner, visit);
        }
    }
}
