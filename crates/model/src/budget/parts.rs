//! Answers that give up whole parts, the least important first.

use serde_json::{Map, Value, json};

use super::{Budget, chars};

/// What an answer is made of.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// Given up in this order, lists from their ends.
    pub optional: &'a [&'a str],
    /// The list that is shortened last and never left out, and how many elements there are of it,
    /// shown or not.
    pub list: &'a str,
    pub total: i64,
    /// What stays beside an empty list, where nothing else helps.
    pub least: &'a [&'a str],
}

/// The answer with as much of it as fits. Where the list is not whole, `<list>_total` says how many
/// elements there are.
pub fn fit_parts(mut answer: Value, parts: &Parts<'_>, budget: &Budget) -> Value {
    if budget.holds(&answer) {
        return answer;
    }
    answer["truncated"] = true.into();
    for part in parts.optional {
        shorten(&mut answer, part, budget);
        if budget.holds(&answer) {
            return answer;
        }
        // An empty list takes room too.
        if let Some(fields) = answer.as_object_mut() {
            fields.remove(*part);
        }
    }
    shorten(&mut answer, parts.list, budget);
    tell_total(&mut answer, parts, budget);
    if budget.holds(&answer) {
        return answer;
    }
    let least = least(&answer, parts);
    if budget.holds(&least) {
        least
    } else {
        json!({ "truncated": true })
    }
}

fn least(answer: &Value, parts: &Parts<'_>) -> Value {
    let kept = parts.least.iter();
    let kept = kept.map(|name| ((*name).to_owned(), answer[*name].clone()));
    let mut least: Map<String, Value> = kept.collect();
    least.insert(parts.list.to_owned(), json!([]));
    least.insert("truncated".to_owned(), true.into());
    least.into()
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

/// Says how many elements the list has, where not all are shown.
fn tell_total(answer: &mut Value, parts: &Parts<'_>, budget: &Budget) {
    let shown = answer[parts.list].as_array().map_or(0, Vec::len);
    if shown as i64 == parts.total {
        return;
    }
    answer[format!("{}_total", parts.list)] = parts.total.into();
    shorten(answer, parts.list, budget);
}
