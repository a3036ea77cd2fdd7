//! What bounds the arguments of every tool: how many entries a list has, how long a text is, and
//! whether it may hold NUL. A field that says nothing has the defaults set here.
//!
//! A field says more in its schema: `maxItems` and `maxProperties` are listed to clients; [`LONG`] and
//! [`NUL`] are for the check alone, [`ABOUT`] is for the reference pages, and none of them is ever listed.

use serde_json::{Map, Value};
use understory_model::limits;

/// Marks a text whose own limit, in bytes, its rule checks.
pub const LONG: &str = "x-long";
/// Marks a text that may hold NUL, because it is kept inside JSON, where NUL is escaped.
pub const NUL: &str = "x-nul";
/// What a field means, where a listing has no room for it: every client would pay for the words.
pub const ABOUT: &str = "x-about";

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

/// Takes away what clients are not listed.
pub fn listed(schema: &mut Value) {
    each(schema, &mut |schema| {
        for mark in [LONG, NUL, ABOUT] {
            schema.remove(mark);
        }
    });
}

/// Describes each field as the reference pages do.
pub fn described(schema: &mut Value) {
    each(schema, &mut |schema| {
        if let Some(about) = schema.remove(ABOUT) {
            schema.entry("description").or_insert(about);
        }
    });
    listed(schema);
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
