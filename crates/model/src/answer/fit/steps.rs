//! Answers that give up one thing after the other, the least important first.

use serde_json::{Map, Value};

use super::Fit;
use crate::answer::json_of;
use crate::budget::{Budget, beside, chars, fit_lists};
use crate::error::Result;

/// One thing that an answer gives up. All of it is named by JSON pointers; what an answer does not
/// have is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Elements of these lists: each keeps as many as the others, and says how many it has.
    Lists(&'static [&'static str]),
    /// The last elements of a list, but not the first `but` of them.
    Last { list: &'static str, but: usize },
    /// These texts; beside each, `<text>_chars` says how long it is.
    Texts(&'static [&'static str]),
    /// The values of an object, of which `fields` names the fields.
    Values(&'static str),
    /// A field.
    Field(&'static str),
    /// Elements of a list, from the last one on, for what [`Fit::brief`] says instead.
    Brief(&'static str),
}

/// The answer after as many steps as it takes, and whether it fits.
pub(super) fn fit_steps<T: Fit>(
    answer: &T,
    json: Value,
    steps: &[Step],
    budget: &Budget,
) -> Result<(Value, bool)> {
    let mut json = match answer.shortened() {
        Some(shortened) => json_of(&shortened)?,
        None => json,
    };
    json["truncated"] = true.into();
    for step in steps {
        if budget.holds(&json) {
            return Ok((json, true));
        }
        match step {
            Step::Lists(lists) => {
                fit_lists(&mut json, lists, budget);
            }
            Step::Last { list, but } => drop_last(&mut json, list, *but, budget),
            Step::Texts(texts) => texts.iter().for_each(|text| leave_out(&mut json, text)),
            Step::Values(object) => only_names(&mut json, object),
            Step::Field(field) => {
                if let Some((fields, name)) = beside(&mut json, field) {
                    fields.remove(name);
                }
            }
            Step::Brief(list) => be_brief(&mut json, list, answer.brief()?, budget),
        }
    }
    let fits = budget.holds(&json);
    Ok((json, fits))
}

/// As many elements of a list as fit, or its first `but`.
fn drop_last(json: &mut Value, list: &str, but: usize, budget: &Budget) {
    let Some(Value::Array(rows)) = json.pointer_mut(list).map(Value::take) else {
        return;
    };
    let mut first = |kept: usize| {
        if let Some(list) = json.pointer_mut(list) {
            *list = rows[..kept].into();
        }
        budget.holds(json)
    };
    let (mut low, mut high) = (but.min(rows.len()), rows.len());
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if first(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    first(low);
}

/// Leaves out a text, and says how long it is.
fn leave_out(json: &mut Value, text: &str) {
    if let Some((fields, name)) = beside(json, text)
        && let Some(chars) = fields
            .get(name)
            .and_then(Value::as_str)
            .map(|text| text.chars().count())
    {
        fields.remove(name);
        fields.insert(format!("{name}_chars"), chars.into());
    }
}

/// Of an object, the names of its fields, those of texts that were left out among them.
fn only_names(json: &mut Value, object: &str) {
    if let Some(object) = json.pointer_mut(object)
        && let Some(fields) = object.as_object()
    {
        let names = fields.keys();
        let names = names.map(|name| name.strip_suffix("_chars").unwrap_or(name));
        let names: Vec<Value> = names.map(Value::from).collect();
        *object = Map::from_iter([("fields".to_owned(), names.into())]).into();
    }
}

/// Says elements of a list in few words, from the last one on, until the answer fits.
fn be_brief(json: &mut Value, list: &str, brief: Vec<Value>, budget: &Budget) {
    let mut excess = chars(json).saturating_sub(budget.chars);
    let Some(Value::Array(rows)) = json.pointer_mut(list) else {
        return;
    };
    for (row, brief) in rows.iter_mut().zip(brief).rev() {
        if excess == 0 {
            return;
        }
        excess = excess.saturating_sub(chars(row).saturating_sub(chars(&brief)));
        *row = brief;
    }
}
