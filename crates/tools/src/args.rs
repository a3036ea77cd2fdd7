//! Arguments: decoded with errors that name the field, described by terse schemas.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use understory_model::Fault;
use understory_model::budget::Budget;

use crate::tool::CAUSED_BY;

/// Reads a tool's arguments. What is unknown, missing or of the wrong type is named by its path.
pub fn decode<T: DeserializeOwned>(mut args: Value) -> Result<T, Fault> {
    // What led to a call is every write's argument and no tool's own.
    if let Some(args) = args.as_object_mut() {
        args.remove(CAUSED_BY);
    }
    serde_path_to_error::deserialize(args).map_err(|error| {
        let path = error.path().to_string();
        let problem = error.inner().to_string();
        let inside = if path == "." { "" } else { &path };
        let field = match (missing(&problem), inside) {
            (Some(name), "") => name.to_string(),
            (Some(name), inside) => format!("{inside}.{name}"),
            (None, "") => "arguments".to_string(),
            (None, inside) => inside.to_string(),
        };
        Fault::invalid(field, problem).hint("The tool's input schema lists its fields and types.")
    })
}

/// The name of a field that is not there, from what serde says about it.
fn missing(problem: &str) -> Option<&str> {
    let name = problem.strip_prefix("missing field `")?;
    name.split('`').next()
}

/// The JSON Schema of a tool's arguments, without what a reader of the fields knows anyway.
pub fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    terse(&mut schema, true);
    schema
}

fn terse(schema: &mut Value, top: bool) {
    let Value::Object(map) = schema else { return };
    for noise in ["title", "format", "default", "$schema"] {
        map.remove(noise);
    }
    if top {
        map.remove("description");
    }
    // Refusing unknown fields is said once, at the top; "anything else too" says nothing.
    let open = map
        .get("additionalProperties")
        .is_some_and(|more| *more == Value::Bool(true));
    if open || !top {
        map.remove("additionalProperties");
    }
    optional(map);
    for (name, value) in map.iter_mut() {
        match (name.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                fields.values_mut().for_each(|field| terse(field, false));
            }
            ("items", value) => terse(value, false),
            ("oneOf" | "anyOf", Value::Array(ways)) => {
                ways.iter_mut().for_each(|way| terse(way, false));
            }
            _ => {}
        }
    }
}

/// A field that may be left out need not also say that it may be null.
fn optional(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get("type")
        && let [one, null] = types.as_slice()
        && *null == "null"
        && !map.contains_key("nullable")
    {
        let one = one.clone();
        map.insert("type".into(), one);
    }
    if let Some(Value::Array(choices)) = map.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    let single = match map.get("anyOf") {
        Some(Value::Array(ways)) if ways.len() == 2 && ways[1]["type"] == "null" => {
            ways[0].as_object().cloned()
        }
        _ => None,
    };
    if let Some(single) = single {
        map.remove("anyOf");
        map.extend(single);
    }
}

/// A field whose `null` means something: absent is `None`, null is `Some(Null)`.
pub fn present<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(from).map(Some)
}

/// The budget of a read that takes `max_chars`.
pub fn budget(max_chars: Option<i64>) -> Budget {
    Budget::new(max_chars, None, None)
}
