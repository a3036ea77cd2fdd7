//! JSON Schemas of answers, made from the types that the tools answer with.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The JSON Schema of an answer's type.
pub fn output<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    each_object(&mut schema, &mut |map| {
        for noise in ["title", "default", "$schema"] {
            map.remove(noise);
        }
        pair(map);
    });
    schema
}

/// A pair is a list of two: readers of the document know lists better than the keyword for positions.
fn pair(map: &mut Map<String, Value>) {
    if let Some(Value::Array(mut places)) = map.remove("prefixItems")
        && !places.is_empty()
    {
        let place = places.swap_remove(0);
        map.insert("items".into(), place);
    }
}

/// What may be shortened to a budget: any field may be missing, a text or list that was cut says
/// its whole length in a field beside it, and the answer says that it was cut.
pub(crate) fn shortened(schema: &mut Value) {
    each_object(schema, &mut |map| {
        map.remove("required");
        if map.contains_key("properties") {
            let length = json!({ "_(chars|count)$": { "type": "integer" } });
            map.insert("patternProperties".into(), length);
        }
    });
    mark_cut(schema);
}

/// Says that an answer, or each of its forms, may be cut.
fn mark_cut(schema: &mut Value) {
    each_form(schema, &|fields| {
        fields.insert("truncated".into(), json!({ "type": "boolean" }));
    });
}

/// What any call that writes adds when its arguments look like they hold a credential.
pub(crate) fn with_credentials(schema: &mut Value) {
    each_form(schema, &|fields| {
        let one = json!({ "path": { "type": "string" }, "kind": { "type": "string" } });
        let one = json!({ "type": "object", "properties": one });
        let found = json!({ "type": "array", "items": one });
        fields.insert("credentials".into(), found);
        let warnings = json!({ "type": "array", "items": { "type": "string" } });
        fields.entry("warnings").or_insert(warnings);
    });
}

/// Visits the fields of an answer, or of each of its forms.
fn each_form(schema: &mut Value, visit: &impl Fn(&mut Map<String, Value>)) {
    if let Some(forms) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        forms.iter_mut().for_each(|form| each_form(form, visit));
        return;
    }
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        visit(fields);
    }
}

/// Visits every schema of an object or value in a schema; never the names of its fields.
fn each_object(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(map) = schema else { return };
    visit(map);
    for (keyword, value) in map.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties" | "$defs" | "patternProperties", Value::Object(fields)) => {
                fields
                    .values_mut()
                    .for_each(|field| each_object(field, visit));
            }
            ("items" | "additionalProperties", value) => each_object(value, visit),
            ("oneOf" | "anyOf" | "allOf", Value::Array(ways)) => {
                ways.iter_mut().for_each(|way| each_object(way, visit));
            }
            _ => {}
        }
    }
}
