//! Arguments held against a tool's schema, before the tool sees them.
//!
//! What is wrong is said by its path and in the words of JSON, never in those of this program. What
//! is meant is made plain: `null` for a field that may be left out is a field left out, and `2.0`
//! where an integer belongs is 2. So a schema that a client was shown is what the server keeps to.

use std::fmt;

use serde_json::{Map, Number, Value};
use understory_model::nearest::nearest;
use understory_model::text::{check_text, quoted};
use understory_model::{Fault, limits};

use crate::bounds::{LONG, NUL};

/// Brings arguments into the form that the schema describes, or says what is wrong with them.
pub fn fit(schema: &Value, args: &mut Value) -> Result<(), Fault> {
    value(schema, args, &Path::Top)
}

/// Where in the arguments something stands; written out only for an error.
enum Path<'p> {
    Top,
    Field(&'p Path<'p>, &'p str),
    Entry(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Top => f.write_str("arguments"),
            Path::Field(Path::Top, name) => f.write_str(&quoted(name)),
            Path::Field(outer, name) => write!(f, "{outer}.{}", quoted(name)),
            Path::Entry(outer, index) => write!(f, "{outer}[{index}]"),
        }
    }
}

fn value(schema: &Value, given: &mut Value, at: &Path<'_>) -> Result<(), Fault> {
    let kinds = Kinds::of(schema);
    if kinds.takes("integer") && !kinds.takes("number") {
        integer(given, at)?;
    }
    if !kinds.fits(given) {
        let problem = format!("must be {kinds}, not {}", kind(given));
        return Err(Fault::invalid(at, problem));
    }
    if let Some(choices) = choices(schema).filter(|choices| !choices.contains(&&*given)) {
        return Err(not_one_of(&choices, given, at));
    }
    match given {
        Value::Object(fields) => {
            at_most(schema, "maxProperties", fields.len(), "properties", at)?;
            object(schema, fields, at)
        }
        Value::Array(entries) => {
            at_most(schema, "maxItems", entries.len(), "entries", at)?;
            match schema.get("items") {
                Some(items) => entries
                    .iter_mut()
                    .enumerate()
                    .try_for_each(|(index, entry)| value(items, entry, &Path::Entry(at, index))),
                None => Ok(()),
            }
        }
        // Where any value may stand, it is kept as JSON, and its rule limits its size.
        Value::String(text) if kinds.takes("string") => string(schema, text, at),
        _ => Ok(()),
    }
}

/// Refuses more entries than the schema's keyword allows, before any of them is looked at.
fn at_most(
    schema: &Value,
    keyword: &str,
    count: usize,
    what: &str,
    at: &Path<'_>,
) -> Result<(), Fault> {
    let most = schema.get(keyword).and_then(Value::as_u64);
    match most.and_then(|most| usize::try_from(most).ok()) {
        Some(most) if count > most => {
            let problem = format!("has {count} {what}; at most {most} are allowed");
            let fault = Fault::invalid(at, problem).detail("max", most);
            Err(fault.hint("Split it into several calls."))
        }
        _ => Ok(()),
    }
}

/// Refuses a text that is too long for any use, and NUL, which no database takes in a text.
fn string(schema: &Value, text: &str, at: &Path<'_>) -> Result<(), Fault> {
    let marked = |mark: &str| schema.get(mark).is_some();
    if text.len() > limits::TEXT_CHARS && !marked(LONG) {
        check_text(at.to_string(), text, limits::TEXT_CHARS, true)?;
    }
    if text.contains('\0') && !marked(NUL) {
        Err(Fault::invalid(at, "holds a NUL character"))
    } else {
        Ok(())
    }
}

/// JSON has one kind of number: `2.0` is the integer 2.
fn integer(given: &mut Value, at: &Path<'_>) -> Result<(), Fault> {
    /// Beyond these a float no longer stands for one integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let Value::Number(number) = &*given else {
        return Ok(());
    };
    match number.as_f64().filter(|_| !number.is_i64()) {
        None => Ok(()),
        Some(whole) if whole.fract() == 0.0 && whole.abs() <= EXACT => {
            *given = Value::Number(Number::from(whole as i64));
            Ok(())
        }
        Some(whole) if whole.fract() == 0.0 => Err(Fault::invalid(at, "is out of range")),
        Some(_) => Err(Fault::invalid(at, "must be an integer, without a fraction")),
    }
}

fn object(schema: &Value, fields: &mut Map<String, Value>, at: &Path<'_>) -> Result<(), Fault> {
    let more = schema.get("additionalProperties");
    let Some(known) = schema.get("properties").and_then(Value::as_object) else {
        return match more.filter(|more| more.is_object()) {
            Some(each) => fields
                .iter_mut()
                .try_for_each(|(name, given)| value(each, given, &Path::Field(at, name))),
            None => Ok(()),
        };
    };
    let closed = more.is_none_or(|more| *more == Value::Bool(false));
    if let Some(name) = fields
        .keys()
        .find(|name| closed && !known.contains_key(*name))
    {
        return Err(unknown(name, known, at));
    }
    let required = || schema["required"].as_array().into_iter().flatten();
    let is_required = |name: &str| required().any(|one| one == name);
    fields.retain(|name, given| {
        let may_go = |field: &Value| !Kinds::of(field).takes("null") && !is_required(name);
        !(given.is_null() && known.get(name).is_some_and(may_go))
    });
    if let Some(name) = required()
        .filter_map(Value::as_str)
        .find(|name| !fields.contains_key(*name))
    {
        return Err(Fault::required(Path::Field(at, name)));
    }
    for (name, given) in fields.iter_mut() {
        if let Some(field) = known.get(name) {
            value(field, given, &Path::Field(at, name))?;
        }
    }
    Ok(())
}

fn unknown(name: &str, known: &Map<String, Value>, at: &Path<'_>) -> Fault {
    let allowed: Vec<&str> = known.keys().map(String::as_str).collect();
    let problem = match allowed.as_slice() {
        [] => "unknown field; none are allowed".to_owned(),
        allowed => format!("unknown field; allowed: {}", allowed.join(", ")),
    };
    let near = nearest(name, allowed.iter().copied(), 1);
    let fault = Fault::invalid(Path::Field(at, name), problem).detail("allowed", &allowed);
    match near.first() {
        Some(near) => fault.hint(format!("Did you mean {near}?")),
        None => fault,
    }
}

fn not_one_of(choices: &[&Value], given: &Value, at: &Path<'_>) -> Fault {
    let words: Vec<&str> = choices.iter().filter_map(|one| one.as_str()).collect();
    let near = nearest(given.as_str().unwrap_or_default(), words.iter().copied(), 1);
    let fault = Fault::one_of(at, &words);
    let all = words.join(", ");
    fault.hint(match near.first() {
        Some(near) => format!("Did you mean {near}? Allowed: {all}."),
        None => format!("Allowed: {all}."),
    })
}

/// The values that a schema enumerates, if it does.
fn choices(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("enum"), schema.get("oneOf")) {
        (Some(Value::Array(choices)), _) => Some(choices.iter().collect()),
        (_, Some(Value::Array(ways))) => ways.iter().map(|way| way.get("const")).collect(),
        _ => None,
    }
}

/// The kinds of value that a schema takes; none named is any.
struct Kinds<'s>(&'s [Value]);

impl<'s> Kinds<'s> {
    fn of(schema: &'s Value) -> Kinds<'s> {
        Kinds(match schema.get("type") {
            Some(Value::Array(kinds)) => kinds,
            Some(kind) => std::slice::from_ref(kind),
            None => &[],
        })
    }

    fn takes(&self, kind: &str) -> bool {
        self.0.iter().any(|one| one == kind)
    }

    fn fits(&self, given: &Value) -> bool {
        let one = match given {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => {
                return self.0.is_empty() || self.takes("number") || self.takes("integer");
            }
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        self.0.is_empty() || self.takes(one)
    }
}

impl fmt::Display for Kinds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.0.iter().filter_map(Value::as_str).map(article);
        let said: Vec<&str> = said.collect();
        f.write_str(&said.join(" or "))
    }
}

fn article(kind: &str) -> &str {
    match kind {
        "integer" => "an integer",
        "number" => "a number",
        "string" => "a string",
        "boolean" => "true or false",
        "array" => "an array",
        "object" => "an object",
        other => other,
    }
}

fn kind(given: &Value) -> &'static str {
    match given {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object", "additionalProperties": false, "required": ["id", "up"],
            "properties": {
                "id": {"type": "string"},
                "up": {"type": ["string", "null"]},
                "count": {"type": "integer"},
                "share": {"type": "number"},
                "state": {"type": "string", "enum": ["OPEN", "LATER"]},
                "any": {"type": "object"},
                "each": {"type": "object", "additionalProperties": {"type": "integer"}},
                "nodes": {"type": "array", "items": {
                    "type": "object", "required": ["ref"],
                    "properties": {"ref": {"type": "string"}, "rank": {"type": "integer"}},
                }},
            },
        })
    }

    fn fitted(mut args: Value) -> Value {
        fit(&schema(), &mut args).unwrap();
        args
    }

    fn wrong(args: Value) -> (String, Value) {
        let mut args = args;
        let fault = fit(&schema(), &mut args).unwrap_err();
        (fault.message, fault.details.unwrap()["field"].clone())
    }

    #[test]
    fn what_is_meant_is_made_plain() {
        let given = json!({
            "id": "a", "up": null, "count": 2.0, "share": 2, "state": null, "any": {"x": null},
            "each": {"k": 3.0}, "nodes": [{"ref": "r", "rank": null}, {"ref": "s", "rank": -1e3}],
        });
        let plain = json!({
            "id": "a", "up": null, "count": 2, "share": 2, "any": {"x": null},
            "each": {"k": 3}, "nodes": [{"ref": "r"}, {"ref": "s", "rank": -1000}],
        });
        assert_eq!(fitted(given), plain);
    }

    #[test]
    fn what_is_wrong_is_said_in_the_callers_words() {
        let base = |name: &str, value: Value| {
            let mut args = json!({"id": "a", "up": null});
            args[name] = value;
            wrong(args)
        };
        let said = |message: &str, field: &str| (message.to_owned(), json!(field));
        assert_eq!(wrong(json!({"up": null})), said("id: is required", "id"));
        assert_eq!(wrong(json!({"id": "a"})), said("up: is required", "up"));
        assert_eq!(base("id", json!(null)).0, "id: must be a string, not null");
        assert_eq!(
            base("id", json!(7)),
            said("id: must be a string, not a number", "id")
        );
        assert_eq!(
            base("count", json!("2")).0,
            "count: must be an integer, not a string"
        );
        assert_eq!(
            base("count", json!(2.5)).0,
            "count: must be an integer, without a fraction"
        );
        assert_eq!(base("count", json!(1e300)).0, "count: is out of range");
        assert_eq!(base("count", json!(u64::MAX)).0, "count: is out of range");
        assert_eq!(
            base("nodes", json!({})).0,
            "nodes: must be an array, not an object"
        );
        assert_eq!(
            base("nodes", json!([{"ref": "a"}, {}])),
            said("nodes[1].ref: is required", "nodes[1].ref")
        );
        assert_eq!(
            base("each", json!({"k": "x"})),
            said("each.k: must be an integer, not a string", "each.k")
        );
        assert_eq!(
            base("up", json!(1)).0,
            "up: must be a string or null, not a number"
        );
        assert_eq!(
            base("state", json!("open")).0,
            "state: must be one of OPEN, LATER"
        );
        assert_eq!(
            base("nodes", json!([{"ref": "a", "rnak": 1}])),
            said(
                "nodes[0].rnak: unknown field; allowed: rank, ref",
                "nodes[0].rnak"
            )
        );
        assert_eq!(base("a\nb", json!(1)).1, r#""a\nb""#);
        assert_eq!(
            wrong(json!(5)),
            said("arguments: must be an object, not a number", "arguments")
        );
    }
}
