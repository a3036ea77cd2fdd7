//! Reading a card as callers write it: an object, the same as JSON text, or lines of `key: value`.

use serde_json::{Map, Value};
use understory_model::error::{Fault, Result};
use understory_model::text::quoted;

/// The fields of a card that have a meaning of their own.
const FIELDS: [&str; 10] = [
    "id", "card_id", "type", "title", "text", "status", "tags", "meta", "supports", "blocks",
];

/// The fields of a card, whatever form it came in.
pub fn fields(card: &Value) -> Result<Map<String, Value>> {
    match card {
        Value::Object(fields) => Ok(fields.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => serde_json::from_str(text)
            .map_err(|error| {
                Fault::invalid("card", format!("is not valid JSON: {error}"))
                    .hint("Give the card as an object, not as text.")
            }),
        Value::String(text) => lines(text),
        _ => Err(unreadable()),
    }
}

pub fn unreadable() -> Fault {
    Fault::invalid(
        "card",
        "must be an object, the same as JSON text, or lines of `key: value`",
    )
    .hint("branchmind_think_template gives one to fill in.")
}

/// A list of texts: a list, or text with commas between them.
pub fn list(field: &str, value: Option<&Value>) -> Result<Vec<String>> {
    let refused = || Fault::invalid(format!("card.{field}"), "must be a list of texts");
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_string).ok_or_else(refused))
            .collect(),
        Some(Value::String(text)) => {
            let text = text.trim();
            if let Ok(items) = serde_json::from_str::<Vec<String>>(text) {
                return Ok(items);
            }
            let inner = text
                .strip_prefix('[')
                .and_then(|text| text.strip_suffix(']'));
            let items = inner.unwrap_or(text).split(',').map(unquoted);
            Ok(items.filter(|item| !item.is_empty()).collect())
        }
        Some(_) => Err(refused()),
    }
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inner = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    inner.unwrap_or(text).to_string()
}

/// A line with its key, and the indented lines that go on with it.
struct Entry<'a> {
    at: usize,
    key: &'a str,
    value: &'a str,
    rest: Vec<&'a str>,
}

/// Lines of `key: value`. A line that goes on is indented; blank lines between such lines are kept.
fn lines(text: &str) -> Result<Map<String, Value>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let goes_on = line.trim().is_empty() || line.starts_with([' ', '\t']);
        match (goes_on, entries.last_mut()) {
            (true, Some(last)) => last.rest.push(line),
            (true, None) if line.trim().is_empty() => {}
            _ => entries.push(entry(at + 1, line)?),
        }
    }
    if entries.is_empty() {
        return Err(unreadable());
    }
    let mut fields = Map::new();
    for entry in &entries {
        // Fields of a card are known in any spelling; a key of its own stays as it was written.
        let known = entry.key.to_lowercase();
        let key = if FIELDS.contains(&known.as_str()) {
            known
        } else {
            entry.key.to_string()
        };
        let value = value(&key, entry)?;
        if fields.insert(key.clone(), value).is_some() {
            let problem = format!("line {}: {} is given twice", entry.at, quoted(&key));
            return Err(Fault::invalid("card", problem));
        }
    }
    Ok(fields)
}

fn entry(at: usize, line: &str) -> Result<Entry<'_>> {
    let Some((key, value)) = line.split_once(':') else {
        let problem = format!("line {at} is not of the form `key: value`");
        return Err(Fault::invalid("card", problem)
            .hint("Indent a line that goes on, or give the card as an object."));
    };
    if key.trim().is_empty() {
        return Err(Fault::invalid("card", format!("line {at} has no key")));
    }
    Ok(Entry {
        at,
        key: key.trim(),
        value: value.trim(),
        rest: Vec::new(),
    })
}

fn value(key: &str, entry: &Entry<'_>) -> Result<Value> {
    let block = dedented(&entry.rest);
    let text = match (entry.value, block.is_empty()) {
        ("|" | "|-", _) | ("", _) => block,
        (value, true) => value.to_string(),
        (value, false) => format!("{value}\n{block}"),
    };
    if key == "meta" && !text.is_empty() {
        return serde_json::from_str::<Map<String, Value>>(&text)
            .map(Value::Object)
            .map_err(|error| {
                let problem = format!("line {}: must be a JSON object: {error}", entry.at);
                Fault::invalid("card.meta", problem)
            });
    }
    Ok(if key == "meta" {
        Value::Null
    } else {
        text.into()
    })
}

/// Lines without the indentation that all of them have, and without blank lines at the end.
fn dedented(lines: &[&str]) -> String {
    let indent = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(indent)
        .min()
        .unwrap_or(0);
    let shown: Vec<&str> = lines
        .iter()
        .map(|line| line.get(common..).unwrap_or_default())
        .collect();
    shown.join("\n").trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Value {
        fields(&json!(text)).map(Value::Object).unwrap()
    }

    #[test]
    fn lines_keep_what_was_written() {
        let card = "ID: c1\ntype: note\nBudget Max: 5\ntext: first\n    if x:\n        y\n\n    end\n\ntags: [x, \"y z\"]\nmeta: {\"a\": 1}\n";
        let expected = json!({"id": "c1", "type": "note", "Budget Max": "5",
            "text": "first\nif x:\n    y\n\nend", "tags": "[x, \"y z\"]", "meta": {"a": 1}});
        assert_eq!(read(card), expected);
        assert_eq!(read("text: |\n  a\n    b\n")["text"], "a\n  b");
        assert_eq!(read("\n\ntext:\n  a\n")["text"], "a");
        assert_eq!(
            list("tags", Some(&json!("[x, \"y z\", 'q']"))).unwrap(),
            ["x", "y z", "q"]
        );
        assert_eq!(list("tags", Some(&json!("[\"a,b\"]"))).unwrap(), ["a,b"]);
        assert_eq!(list("tags", Some(&json!("a, ,b"))).unwrap(), ["a", "b"]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let problem = |text: &str| fields(&json!(text)).unwrap_err().message;
        assert!(problem("id: a\nid: b").contains("line 2: id is given twice"));
        assert!(problem("id: a\nID: b").contains("given twice"));
        let unseen = problem("a\u{8}b: 1\na\u{8}b: 2");
        assert!(!unseen.contains('\u{8}'), "{unseen:?}");
        assert!(problem("{\"id\": \"j3\", \"type\": \"note\"").contains("line 1 column"));
        assert!(problem("meta: {a}").contains("line 1: must be a JSON object"));
        assert!(problem("just words").contains("line 1"));
        assert!(problem(": x").contains("no key"));
        for odd in [json!(""), json!("  \n"), json!(1), json!([]), json!(null)] {
            assert!(fields(&odd).is_err(), "{odd}");
        }
        // Without a common indentation nothing is cut inside a character.
        assert_eq!(read("text:\n \u{e9}a\n\tb")["text"], "\u{e9}a\nb");
    }
}
