//! Arguments: decoded with errors that name the field, described by terse schemas.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use understory_model::Fault;

/// Reads a tool's arguments, which have been held against its schema: what is still wrong is what a
/// schema cannot say, and is named by its path.
pub fn decode<T: DeserializeOwned>(args: Value) -> Result<T, Fault> {
    // Keeping track of the path costs more than reading the arguments, which are nearly always right.
    if let Ok(input) = T::deserialize(&args) {
        return Ok(input);
    }
    serde_path_to_error::deserialize(args).map_err(|error| {
        let path = error.path().to_string();
        let problem = error.inner().to_string();
        match (path.as_str(), missing(&problem)) {
            (".", Some(name)) => Fault::invalid(name, "is required"),
            (path, Some(name)) => Fault::invalid(format!("{path}.{name}"), "is required"),
            (".", None) => Fault::invalid("arguments", plain(&problem)),
            (path, None) => Fault::invalid(path, plain(&problem)),
        }
    })
}

/// The name of a field that is not there, from what serde says about it.
fn missing(problem: &str) -> Option<&str> {
    let name = problem.strip_prefix("missing field `")?;
    name.split('`').next()
}

/// What serde says about a value, without its words for the types of this program.
fn plain(problem: &str) -> String {
    if problem.starts_with("invalid value: integer") {
        return "is out of range".to_owned();
    }
    let Some((_, expected)) = problem.split_once(", expected ") else {
        return problem.to_owned();
    };
    let expected = match expected {
        "a sequence" => "an array",
        "a map" => "an object",
        "a boolean" => "true or false",
        "i64" | "u64" | "usize" => "an integer",
        "f64" => "a number",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    format!("must be {expected}")
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
    match map.get("additionalProperties") {
        Some(Value::Bool(open)) if *open || !top => drop(map.remove("additionalProperties")),
        _ => {}
    }
    optional(map);
    for (name, value) in map.iter_mut() {
        match (name.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                fields.values_mut().for_each(|field| terse(field, false));
            }
            ("items" | "additionalProperties", value) => terse(value, false),
            ("oneOf" | "anyOf", Value::Array(ways)) => {
                ways.iter_mut().for_each(|way| terse(way, false));
            }
            _ => {}
        }
    }
}

/// A field that may be left out need not also say that it may be null: null is then the same. One
/// whose null means something is marked `nullable`.
fn optional(map: &mut Map<String, Value>) {
    let nullable = map.remove("nullable").is_some();
    if let Some(Value::Array(types)) = map.get("type")
        && let [one, null] = types.as_slice()
        && *null == "null"
        && !nullable
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
