//! What things are found by, in one place for the index and for showing a hit.
//!
//! A change here requires raising CORE_VERSION, because the index is filled by it.

use serde_json::{Map, Value};
use understory_model::record::RecordData;
use understory_storage::texts::Text;

use crate::kernel::content::call::Call;
use crate::kernel::content::event::Event;
use crate::kernel::content::message::Said;
use crate::kernel::content::node as fields;
use crate::kinds::ItemKind;

/// Fields that say what a thing is called, the likeliest first.
const NAMES: [&str; 4] = ["title", "name", "label", "subject"];
/// Fields whose value is prose: their names say nothing about it.
const PROSE: [&str; 4] = ["description", "content", "body", "text"];

fn text<'f>(fields: &'f Map<String, Value>, field: &str) -> &'f str {
    let value = fields.get(field).and_then(Value::as_str);
    value.unwrap_or_default()
}

/// A value of any shape: its title, its summary, and all else that it says, nested or not.
pub fn of_fields(fields: &Map<String, Value>) -> Text {
    let title = NAMES.iter().find(|field| !text(fields, field).is_empty());
    let mut lines: Vec<String> = Vec::new();
    let prose = PROSE.iter().map(|field| text(fields, field));
    lines.extend(prose.filter(|text| !text.is_empty()).map(str::to_string));
    for (name, value) in fields {
        let told = title == Some(&name.as_str()) || name == "summary";
        let prose = PROSE.contains(&name.as_str()) && value.is_string();
        if !told && !prose {
            speak(name, value, &mut lines);
        }
    }
    Text {
        title: title
            .map(|field| text(fields, field))
            .unwrap_or_default()
            .to_string(),
        summary: text(fields, "summary").to_string(),
        body: lines.join("\n"),
        ..Text::default()
    }
}

/// Each value inside another, after the names that lead to it.
fn speak(name: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::String(text) if text.trim().is_empty() => {}
        Value::String(text) => lines.push([name, ": ", text].concat()),
        Value::Bool(_) | Value::Number(_) => lines.push(format!("{name}: {value}")),
        Value::Array(values) => values.iter().for_each(|value| speak(name, value, lines)),
        Value::Object(fields) => {
            for (inner, value) in fields {
                speak(&format!("{name} {inner}"), value, lines);
            }
        }
    }
}

/// The values of a field, a line each.
fn spoken(name: &str, value: Option<&Value>) -> String {
    let mut lines = Vec::new();
    if let Some(value) = value {
        speak(name, value, &mut lines);
    }
    lines.join("\n")
}

/// The texts that are not empty, below each other.
fn joined<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let texts = texts.into_iter().filter(|text| !text.trim().is_empty());
    texts.collect::<Vec<_>>().join("\n")
}

/// An item of the garden; `None` where nothing in it is worth finding.
pub fn of_item(kind: ItemKind<'_>, fields: &Map<String, Value>) -> Option<Text> {
    let found = match kind {
        ItemKind::Message => of_words(fields),
        ItemKind::ToolCall => of_call(fields)?,
        // What the server reports stands elsewhere too, and is found there.
        ItemKind::SystemEvent if Event::of(fields).is_some() => return None,
        _ => of_fields(fields),
    };
    let empty = [&found.title, &found.summary, &found.body];
    (!empty.iter().all(|text| text.trim().is_empty())).then_some(found)
}

/// What somebody said. Who said it to whom is asked of the timeline.
fn of_words(fields: &Map<String, Value>) -> Text {
    let mut said = fields.clone();
    said.retain(|name, _| !["sender", "recipient", "fragments"].contains(&name.as_str()));
    let mut found = of_fields(&said);
    // Parts that the caller made need not stand in the whole.
    let parts = fields.get("fragments").and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        let part = part["content"].as_str().unwrap_or_default().trim();
        if !found.body.contains(part) {
            found.body = joined([found.body.as_str(), part]);
        }
    }
    found
}

/// A call of a tool. Of looks at an artifact only the words count that somebody put into them: a
/// question would answer itself.
fn of_call(fields: &Map<String, Value>) -> Option<Text> {
    let context = text(fields, "context");
    if let Some(call) = Call::of(fields) {
        let body = joined(call.words().into_iter().chain([context]));
        return (!body.is_empty()).then(|| Text {
            body,
            ..Text::default()
        });
    }
    let [params, result] = ["params", "result"].map(|name| spoken(name, fields.get(name)));
    Some(Text {
        title: joined([text(fields, "tool"), text(fields, "operation")]).replace('\n', " "),
        body: joined([context, &params, &result]),
        ..Text::default()
    })
}

/// A message of a thread, with what its sender put beside the words.
pub fn of_message(said: &Said) -> String {
    let mut lines = vec![said.body.clone()];
    for (name, value) in said
        .metadata
        .iter()
        .filter(|(name, _)| *name != "event_type")
    {
        speak(name, value, &mut lines);
    }
    joined(lines.iter().map(String::as_str))
}

pub fn of_record(data: &RecordData) -> Text {
    Text {
        title: data.title.clone(),
        summary: data.summary.clone(),
        body: data.body.clone(),
        extra: data.extra(),
        grams: Vec::new(),
    }
}

/// What a node says beside its summary: its evidence, and the words among its properties.
pub fn of_node(data: &Map<String, Value>) -> String {
    let mut lines = vec![fields::evidence_text(data)];
    for (name, value) in fields::properties(data) {
        // What the server keeps there is found by its own filters.
        if value.is_string() && !name.starts_with('_') {
            speak(name, value, &mut lines);
        }
    }
    joined(lines.iter().map(String::as_str))
}

/// A conversation: what it is called, and what came of it.
pub fn of_log(data: &Map<String, Value>) -> Text {
    let summary = data
        .get("summary")
        .and_then(|told| told["content"].as_str());
    Text {
        title: text(data, "title").to_string(),
        body: summary.unwrap_or_default().to_string(),
        ..Text::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn everything_nested_is_said_with_the_names_that_lead_to_it() {
        let found = of_fields(&fields(json!({
            "name": "till", "summary": "counts", "description": "The till.", "port": 8080,
            "address": {"city": "Lagos", "lines": ["a", "b"]}, "none": null, "open": true,
        })));
        assert_eq!(
            (found.title.as_str(), found.summary.as_str()),
            ("till", "counts")
        );
        let lines = [
            "The till.",
            "address city: Lagos",
            "address lines: a",
            "address lines: b",
            "open: true",
            "port: 8080",
        ];
        assert_eq!(found.body.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn a_question_is_not_found_and_a_note_is() {
        let call = |operation: &str, params: Value| {
            of_item(
                ItemKind::ToolCall,
                &fields(
                    json!({"tool": "artifact_reader", "operation": operation, "params": params}),
                ),
            )
        };
        assert!(call("semantic_search", json!({"query": "where?"})).is_none());
        assert!(
            call(
                "scroll_to",
                json!({"artifact": "entity_x", "label": "doc", "start": 1})
            )
            .is_none()
        );
        let note = call("note", json!({"content": "too long"}));
        assert_eq!(note.map(|text| text.body).as_deref(), Some("too long"));
    }
}
