//! Any answer of any tool, for a person: tables for lists of objects, `key  value` otherwise.

use serde_json::{Map, Value};

use crate::cli::out::Out;
use crate::cli::table::Table;
use crate::cli::text::Text;
use crate::cli::when::Clock;

/// Fields that come first, in this order; the others follow as they are.
const FIRST: [&str; 16] = [
    "node", "root", "id", "node_id", "ref", "handle", "name", "project", "seq", "from", "to",
    "field", "summary", "title", "resolved", "state",
];

type Object = Map<String, Value>;

/// Prints an answer.
pub struct Render<'a> {
    pub out: &'a Out,
    pub clock: &'a Clock,
}

impl Render<'_> {
    pub fn answer(&self, value: &Value) {
        match value {
            Value::Object(map) if map.is_empty() => self.out.hint("(nothing)"),
            _ => self.nested(value, 0),
        }
    }

    fn nested(&self, value: &Value, indent: usize) {
        match value {
            Value::Object(map) => self.object(map, indent),
            Value::Array(list) => self.list(list, indent),
            _ => self.lines("", value, indent),
        }
    }

    fn object(&self, map: &Object, indent: usize) {
        let (simple, rest): (Vec<_>, Vec<_>) = ordered(map)
            .into_iter()
            .partition(|(_, value)| is_simple(value));
        let width = simple
            .iter()
            .map(|(key, _)| Text::from(key.as_str()).width());
        let width = width.max().unwrap_or(0);
        for (key, value) in simple {
            let pad = width.saturating_sub(Text::from(key.as_str()).width()) + 2;
            let text = self.inline(key, value);
            let mut lines = text.lines();
            let start = Text::from(" ".repeat(indent))
                .dim(key)
                .plain(" ".repeat(pad));
            self.out.line(start.plain(lines.next().unwrap_or_default()));
            for line in lines {
                let start = " ".repeat(indent + width + 2);
                self.out.line(Text::from(start).plain(line));
            }
        }
        for (key, value) in rest {
            self.out.line(Text::from(" ".repeat(indent)).bold(key));
            self.nested(value, indent + 2);
        }
    }

    fn list(&self, list: &[Value], indent: usize) {
        let objects: Option<Vec<&Object>> = list.iter().map(Value::as_object).collect();
        match objects {
            Some(objects) if objects.iter().all(|map| map.values().all(is_cell)) => {
                self.table(&objects, indent);
            }
            Some(objects) => {
                for (at, map) in objects.into_iter().enumerate() {
                    if at > 0 {
                        self.out.blank();
                    }
                    self.object(map, indent);
                }
            }
            None => list.iter().for_each(|value| self.nested(value, indent)),
        }
    }

    fn table(&self, objects: &[&Object], indent: usize) {
        let mut titles: Vec<&String> = Vec::new();
        for key in objects.iter().flat_map(|map| map.keys()) {
            if !titles.contains(&key) {
                titles.push(key);
            }
        }
        titles.sort_by_key(|key| place(key));
        let names: Vec<&str> = titles.iter().map(|title| title.as_str()).collect();
        let mut table = Table::new(&names);
        for map in objects {
            table.row(names.iter().enumerate().map(|(at, name)| {
                let value = map.get(*name).filter(|value| !is_empty(value));
                let text = value.map(|value| self.inline(name, value));
                let text = text.unwrap_or_default();
                if at == 0 {
                    Text::new().name(text)
                } else {
                    Text::from(text)
                }
            }));
        }
        self.out.indented_table(table, indent);
    }

    fn lines(&self, key: &str, value: &Value, indent: usize) {
        for line in self.inline(key, value).lines() {
            self.out.line(Text::from(" ".repeat(indent)).plain(line));
        }
    }

    /// A value in a few words; times as people say them.
    fn inline(&self, key: &str, value: &Value) -> String {
        match value {
            Value::Null => "–".to_owned(),
            value if is_empty(value) => "–".to_owned(),
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            Value::String(text) if is_time(key) || is_moment(text) => self.clock.ago_text(text),
            Value::String(text) => text.clone(),
            Value::Array(list) => {
                let parts: Vec<String> = list.iter().map(|one| self.inline(key, one)).collect();
                parts.join(", ")
            }
            Value::Object(map) => {
                let parts: Vec<String> = ordered(map)
                    .into_iter()
                    .map(|(key, value)| format!("{key}={}", self.inline(key, value)))
                    .collect();
                parts.join(" ")
            }
            Value::Number(_) => value.to_string(),
        }
    }
}

fn is_time(key: &str) -> bool {
    key == "at" || key == "timestamp" || key.ends_with("_at")
}

/// Whether a text is a moment as answers write it, `2026-01-31T12:00:00.000000Z`, whatever its
/// field is called.
fn is_moment(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 20
        && bytes.first().is_some_and(u8::is_ascii_digit)
        && [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')]
            .iter()
            .all(|(at, sign)| bytes[*at] == *sign)
        && bytes.ends_with(b"Z")
}

fn place(key: &str) -> usize {
    let known = FIRST.iter().position(|first| *first == key);
    known.unwrap_or(FIRST.len())
}

fn ordered(map: &Object) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = map.iter().collect();
    fields.sort_by_key(|(key, _)| place(key));
    fields
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// Compact JSON with what tells most at its beginning, for a line that may be cut.
pub fn telling(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let fields: Vec<String> = ordered(map)
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), telling(value)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(telling).collect();
            format!("[{}]", list.join(","))
        }
        _ => value.to_string(),
    }
}

/// Whether a value fits beside its name.
fn is_simple(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().all(|one| !one.is_object() && !one.is_array()),
        Value::Object(map) => map.is_empty(),
        _ => true,
    }
}

/// Whether a value fits into a cell.
fn is_cell(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().all(|one| is_simple(one) && is_one_line(one)),
        _ => is_simple(value) && is_one_line(value),
    }
}

/// A diff is read line by line, so it gets lines of its own.
fn is_one_line(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim_end().contains('\n'),
        Value::Array(list) => list.iter().all(is_one_line),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn moments_are_known_by_their_form() {
        for moment in ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000001Z"] {
            assert!(is_moment(moment), "{moment}");
        }
        for other in [
            "",
            "2026-01-31",
            "2026-01-31T12:00:00+01:00",
            "at 2026-01-31T12:00:00Z",
        ] {
            assert!(!is_moment(other), "{other}");
        }
    }

    #[test]
    fn what_has_several_lines_is_no_cell() {
        assert!(is_cell(&json!({"a": "one", "b": [1]})));
        assert!(is_cell(&json!("one\n")));
        for several in [json!("a\nb"), json!({"diff": "a\nb"}), json!(["a\nb"])] {
            assert!(!is_cell(&several), "{several}");
        }
    }
}
