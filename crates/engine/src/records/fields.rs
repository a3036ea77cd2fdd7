//! A record's value: what its fields are called, what they may hold, and how its states follow
//! each other.

use serde_json::{Map, Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::limits;
use understory_model::text::check_text;
use understory_storage::keys::Pair;

use crate::graph::fields::metadata_pair;

pub const OPEN: &str = "OPEN";
pub const LATER: &str = "LATER";
pub const RESOLVED: &str = "RESOLVED";
pub const DISCARDED: &str = "DISCARDED";

pub const STATES: [&str; 4] = [OPEN, LATER, RESOLVED, DISCARDED];

/// What a record can be found by exactly: each value of its metadata.
pub fn pairs(data: &Map<String, Value>) -> Vec<Pair> {
    let metadata = data.get("metadata").and_then(Value::as_object);
    let mut pairs: Vec<Pair> = metadata
        .into_iter()
        .flatten()
        .map(|(name, value)| metadata_pair(name, value))
        .collect();
    pairs.sort();
    pairs.dedup();
    pairs
}

/// A text field; empty where there is none.
pub fn text<'d>(data: &'d Map<String, Value>, field: &str) -> &'d str {
    data.get(field).and_then(Value::as_str).unwrap_or_default()
}

pub fn state(data: &Map<String, Value>) -> &str {
    text(data, "state")
}

/// Why a record has its state, where somebody said so.
pub fn reason(data: &Map<String, Value>) -> Option<&str> {
    data.get("reason").and_then(Value::as_str)
}

/// What a record is found by beside its texts: its type, and the keys and values of its metadata,
/// however deep.
pub fn extra(data: &Map<String, Value>) -> String {
    let mut words = text(data, "type").to_string();
    if let Some(metadata) = data.get("metadata") {
        add_words(metadata, &mut words);
    }
    words
}

fn add_words(value: &Value, words: &mut String) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                words.push('\n');
                words.push_str(key);
                add_words(value, words);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| add_words(value, words)),
        Value::String(text) => {
            words.push(' ');
            words.push_str(text);
        }
        Value::Number(_) | Value::Bool(_) => words.push_str(&format!(" {value}")),
        Value::Null => {}
    }
}

/// The handles of related records.
pub fn related(data: &Map<String, Value>) -> Vec<String> {
    let list = data.get("related").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|one| one.as_str().map(str::to_string))
        .collect()
}

/// The states that a state leads to.
pub fn next_states(from: &str) -> &'static [&'static str] {
    match from {
        OPEN => &[LATER, RESOLVED, DISCARDED],
        LATER => &[OPEN, DISCARDED],
        RESOLVED | DISCARDED => &[OPEN],
        _ => &[],
    }
}

/// The name of a state as callers write it.
pub fn check_state(field: &str, state: &str) -> Result<()> {
    if STATES.contains(&state) {
        return Ok(());
    }
    let shown: String = state.chars().take(40).collect();
    Err(Fault::invalid(
        field,
        format!("unknown state {shown:?}: must be OPEN, LATER, RESOLVED or DISCARDED"),
    )
    .details(json!({ "allowed": STATES })))
}

pub fn check_title(title: &str) -> Result<()> {
    check_text("title", title, limits::LINE_CHARS, false)
}

pub fn check_summary(summary: &str) -> Result<()> {
    check_text("summary", summary, limits::LINE_CHARS, true)
}

pub fn check_type(kind: &str) -> Result<()> {
    check_text("type", kind, limits::NAME_CHARS, false)?;
    if kind.chars().any(char::is_control) {
        return Err(Fault::invalid("type", "has control characters")
            .hint("Use a word such as question, conclusion or note."));
    }
    Ok(())
}

pub fn check_body(body: &str) -> Result<()> {
    if body.len() <= limits::BODY_BYTES {
        return Ok(());
    }
    let (size, most) = (body.len(), limits::BODY_BYTES);
    Err(Fault::new(
        Code::TooLarge,
        format!("body: has {size} bytes; at most {most} are kept"),
    )
    .details(json!({ "field": "body", "bytes": size, "limit": most }))
    .hint("Split it into several records, or keep the large part in a file and name it."))
}

pub fn check_metadata(metadata: &Map<String, Value>) -> Result<()> {
    let size = serde_json::to_string(metadata).map_or(usize::MAX, |text| text.len());
    if size <= limits::METADATA_BYTES {
        return Ok(());
    }
    let most = limits::METADATA_BYTES;
    Err(Fault::new(
        Code::TooLarge,
        format!("metadata: has {size} bytes; at most {most} are kept"),
    )
    .details(json!({ "field": "metadata", "bytes": size, "limit": most }))
    .hint("Put long text into the body."))
}

pub fn check_reason(reason: &str) -> Result<()> {
    check_text("reason", reason, limits::TEXT_CHARS, true)
}

/// What settled a record goes only with RESOLVED.
pub fn check_resolved_by(state: &str, resolved_by: Option<&str>) -> Result<()> {
    if resolved_by.is_none() || state == RESOLVED {
        return Ok(());
    }
    Err(Fault::invalid(
        "resolved_by",
        format!("goes with RESOLVED, not with {state}"),
    ))
}
