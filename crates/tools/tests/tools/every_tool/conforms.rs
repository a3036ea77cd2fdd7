//! Whether an answer is what its tool's output schema declares.
//!
//! It knows the keywords that these schemas use and fails on any other: a keyword that is passed over
//! would be a promise that nobody checks.

use serde_json::{Map, Value};

/// What says nothing about a value.
const NOTES: [&str; 5] = ["description", "format", "$defs", "$comment", "examples"];

/// Fails unless the answer is what the schema declares.
#[track_caller]
pub fn check(schema: &Value, answer: &Value, tool: &str) {
    if let Err(wrong) = fits(schema, schema, answer, "") {
        panic!("{tool} answers what it does not declare: {wrong}\n{answer}");
    }
}

/// `root` holds what a `$ref` names; `at` is a pointer into the answer.
fn fits(root: &Value, schema: &Value, given: &Value, at: &str) -> Result<(), String> {
    let keywords = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(keywords) => keywords,
        _ => return Err(format!("{at}: nothing may stand here")),
    };
    for (keyword, says) in keywords {
        if !NOTES.contains(&keyword.as_str()) {
            keyword_fits(root, (keyword, says), keywords, given, at)?;
        }
    }
    Ok(())
}

fn keyword_fits(
    root: &Value,
    (keyword, says): (&str, &Value),
    beside: &Map<String, Value>,
    given: &Value,
    at: &str,
) -> Result<(), String> {
    let wrong = || format!("{at}: {given} does not fit {keyword} {says}");
    let holds = match keyword {
        "type" => list(says).iter().any(|kind| is(kind, given)),
        "enum" => list(says).contains(&given),
        "const" => says == given,
        "minimum" => given.as_f64().is_none_or(|n| says.as_f64() <= Some(n)),
        "maximum" => given.as_f64().is_none_or(|n| says.as_f64() >= Some(n)),
        "minItems" => given
            .as_array()
            .is_none_or(|all| says.as_u64() <= Some(all.len() as u64)),
        "maxItems" => given
            .as_array()
            .is_none_or(|all| says.as_u64() >= Some(all.len() as u64)),
        "$ref" => {
            let name = says.as_str().and_then(|name| name.strip_prefix('#'));
            let named = name.and_then(|name| root.pointer(name)).ok_or_else(wrong)?;
            return fits(root, named, given, at);
        }
        "anyOf" | "oneOf" | "allOf" => {
            let tried: Vec<_> = list(says)
                .iter()
                .map(|one| fits(root, one, given, at))
                .collect();
            let count = tried.iter().filter(|one| one.is_ok()).count();
            let enough = match keyword {
                "anyOf" => count > 0,
                "oneOf" => count == 1,
                _ => count == tried.len(),
            };
            let why: Vec<String> = tried.into_iter().filter_map(Result::err).collect();
            let why = why.join("; ");
            return enough
                .then_some(())
                .ok_or_else(|| format!("{at}: {count} of {keyword}: {why}"));
        }
        "required" => given.as_object().is_none_or(|fields| {
            let has = |name: &&Value| name.as_str().is_some_and(|name| fields.contains_key(name));
            list(says).iter().all(has)
        }),
        "properties" | "patternProperties" | "additionalProperties" => {
            return fields_fit(root, (keyword, says), beside, given, at);
        }
        "items" => {
            let mut entries = given.as_array().into_iter().flatten().enumerate();
            return entries
                .try_for_each(|(n, entry)| fits(root, says, entry, &format!("{at}/{n}")));
        }
        _ => {
            return Err(format!(
                "{at}: the test does not know the keyword {keyword}"
            ));
        }
    };
    holds.then_some(()).ok_or_else(wrong)
}

/// The fields that a schema names, those whose names fit a pattern, or the rest.
fn fields_fit(
    root: &Value,
    (keyword, says): (&str, &Value),
    beside: &Map<String, Value>,
    given: &Value,
    at: &str,
) -> Result<(), String> {
    let fields_of = |keyword: &str| beside.get(keyword).and_then(Value::as_object);
    let named = fields_of("properties");
    let patterns = fields_of("patternProperties");
    for (name, value) in given.as_object().into_iter().flatten() {
        let field = named.and_then(|named| named.get(name));
        let mut fitting = patterns.into_iter().flatten();
        let fitting = fitting.find_map(|(pattern, says)| is_like(pattern, name).then_some(says));
        let schema = match keyword {
            "properties" => field,
            "patternProperties" => fitting,
            _ if field.or(fitting).is_some() => None,
            _ => Some(says),
        };
        if let Some(schema) = schema {
            fits(root, schema, value, &format!("{at}/{name}"))?;
        }
    }
    Ok(())
}

/// Whether a name fits a pattern: these schemas describe numbers so, and the lengths of what was cut.
fn is_like(pattern: &str, name: &str) -> bool {
    let digits = match pattern {
        "_(chars|count)$" => return name.ends_with("_chars") || name.ends_with("_count"),
        r"^\d+$" => name,
        r"^-?\d+$" => name.strip_prefix('-').unwrap_or(name),
        _ => panic!("the test does not know the pattern {pattern}"),
    };
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A list, or one value as a list of it.
fn list(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(all) => all.iter().collect(),
        one => vec![one],
    }
}

fn is(kind: &Value, given: &Value) -> bool {
    match kind.as_str().unwrap_or_default() {
        "null" => given.is_null(),
        "boolean" => given.is_boolean(),
        "integer" => given.is_i64() || given.is_u64(),
        "number" => given.is_number(),
        "string" => given.is_string(),
        "array" => given.is_array(),
        "object" => given.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn holds(schema: Value, given: Value) -> bool {
        fits(&schema, &schema, &given, "").is_ok()
    }

    #[test]
    fn what_is_not_declared_is_found() {
        let schema = json!({
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": { "type": "string" },
                "rev": { "type": "integer", "minimum": 0 },
                "list": { "type": "array", "items": { "$ref": "#/$defs/one" } },
                "counts": {
                    "type": "object",
                    "patternProperties": { r"^\d+$": { "type": "boolean" } },
                    "additionalProperties": false,
                },
                "either": { "anyOf": [{ "type": "null" }, { "enum": ["a", "b"] }] },
            },
            "additionalProperties": false,
            "$defs": { "one": { "const": 1 } },
        });
        let good =
            json!({"id": "a", "rev": 0, "list": [1, 1], "counts": {"7": true}, "either": null});
        assert!(holds(schema.clone(), good.clone()));
        for (field, wrong) in [
            ("id", json!(1)),
            ("rev", json!(-1)),
            ("rev", json!(1.5)),
            ("list", json!([1, 2])),
            ("list", json!({})),
            ("counts", json!({"7": 1})),
            ("counts", json!({"x": true})),
            ("either", json!("c")),
            ("other", json!(1)),
        ] {
            let mut given = good.clone();
            given[field] = wrong;
            assert!(!holds(schema.clone(), given.clone()), "{given}");
        }
        assert!(!holds(schema, json!({})), "id is required");
        assert!(
            !holds(json!({"pattern": "a"}), json!("b")),
            "unknown keyword"
        );
    }
}
