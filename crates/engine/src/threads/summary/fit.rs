//! What a summary leaves out where there is little room: chatter before what is open.

use serde_json::{Value, json};
use understory_model::budget::{Budget, chars};

/// The parts of a summary, in the order in which they are given up, lists from their ends. The
/// sentence has the counts too.
const PARTS: [&str; 11] = [
    "first_messages",
    "topics",
    "last_messages",
    "changes",
    "participants",
    "commits",
    "resolved_by",
    "span",
    "title",
    "findings",
    "open_items",
];

/// The summary with as much of it as fits; `total` counts what is open, named or not.
pub fn fitted(mut answer: Value, total: i64, budget: &Budget) -> Value {
    if budget.holds(&answer) {
        return answer;
    }
    answer["truncated"] = true.into();
    for part in PARTS {
        shorten(&mut answer, part, budget);
        if part == "open_items" {
            tell_rest(&mut answer, total, budget);
        }
        if budget.holds(&answer) {
            return answer;
        }
        // An empty list takes room too; that of what is open is always there.
        if let Some(fields) = answer.as_object_mut()
            && part != "open_items"
        {
            fields.remove(part);
        }
    }
    let least = json!({
        "summary": answer["summary"],
        "open_items": [],
        "last_status": answer["last_status"],
        "truncated": true,
    });
    match budget.holds(&least) {
        true => least,
        false => json!({ "truncated": true }),
    }
}

/// Drops the last elements of a list until the answer fits, or none is left.
fn shorten(answer: &mut Value, list: &str, budget: &Budget) {
    let mut size = chars(answer);
    while size > budget.chars {
        let Some(items) = answer.get_mut(list).and_then(Value::as_array_mut) else {
            return;
        };
        let Some(dropped) = items.pop() else {
            return;
        };
        // With the comma before it, unless it was the only one.
        size -= chars(&dropped) + usize::from(!items.is_empty());
    }
}

/// Says how many open items there are, where not all are named.
fn tell_rest(answer: &mut Value, total: i64, budget: &Budget) {
    let named = answer["open_items"].as_array().map_or(0, Vec::len);
    if named as i64 == total {
        return;
    }
    answer["open_items_total"] = total.into();
    shorten(answer, "open_items", budget);
}
