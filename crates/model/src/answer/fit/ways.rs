//! How an answer is shortened in ways that only one shape has.

use serde_json::{Map, Value, json};

use super::Fit;
use crate::answer::{Next, json_of};
use crate::budget::{self, Budget, Drop};
use crate::error::Result;

/// The answer with as many of its first rows as fit.
pub(super) fn fit_rows<T: Fit>(answer: &T, list: &str, budget: &Budget) -> Result<Value> {
    let nothing = || json!({ list: [], "truncated": true });
    let cut = |answer: &T| -> Result<Value> {
        let mut json = json_of(answer)?;
        json["truncated"] = true.into();
        Ok(json)
    };
    let first = |kept: usize| {
        answer
            .first(kept)
            .map_or_else(|| Ok(nothing()), |one| cut(&one))
    };
    let rows = answer.rows();
    let (mut low, mut high) = (0, rows.saturating_sub(1));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if budget.holds(&first(middle)?) {
            low = middle
        } else {
            high = middle - 1
        }
    }
    if low == 0 && rows > 0 {
        for lean in answer.lean() {
            let lean = cut(&lean)?;
            if budget.holds(&lean) {
                return Ok(lean);
            }
        }
    }
    let answer = first(low)?;
    Ok(if budget.holds(&answer) {
        answer
    } else {
        nothing()
    })
}

/// Room for `,"pagination":{"next_cursor":null},"truncated":false`.
const PAGINATION_ROOM: usize = 64;

pub(super) fn fit_pagination<T: Fit>(
    answer: &T,
    mut json: Value,
    list: &str,
    budget: &Budget,
) -> Value {
    const NEXT: &str = "next_cursor";
    let pagination = json.as_object_mut().and_then(|fields| {
        fields.remove("truncated");
        fields.remove("pagination")
    });
    let next = pagination.map_or(Value::Null, |mut pagination| pagination[NEXT].take());
    if !next.is_null() {
        json[NEXT] = next;
    }
    let inner = budget.less(PAGINATION_ROOM);
    let mut json = budget::fit_page(json, list, &inner, Drop::Last, NEXT, |kept, _| {
        answer.cursor(kept).map_or(Value::Null, Next::into)
    });
    if let Some(fields) = json.as_object_mut() {
        let next = fields.remove(NEXT).unwrap_or(Value::Null);
        fields.insert("pagination".into(), json!({ NEXT: next }));
        fields.entry("truncated").or_insert(Value::Bool(false));
    }
    json
}

/// Takes the elements of a list out of an answer, those that stay longest first.
pub(super) fn rows_of(mut json: Value, list: &str, drop: Drop) -> (Value, Vec<Value>) {
    let mut rows = match json.get_mut(list).map(Value::take) {
        Some(Value::Array(rows)) => rows,
        _ => Vec::new(),
    };
    if drop == Drop::First {
        rows.reverse();
    }
    (json, rows)
}

/// The answer with some of its elements, given as [`rows_of`] gives them.
pub(super) fn with_rows<T: Fit>(
    answer: &T,
    envelope: &Value,
    list: &str,
    drop: Drop,
    rows: &[Value],
) -> Value {
    let around = answer.around(rows.len());
    let around = around.and_then(|answer| serde_json::to_value(answer).ok());
    let mut json = around.unwrap_or_else(|| envelope.clone());
    let mut rows = rows.to_vec();
    if drop == Drop::First {
        rows.reverse();
    }
    if let Some(fields) = json.as_object_mut() {
        fields.insert(list.to_owned(), rows.into());
    }
    json
}

pub(super) fn fit_spare(mut json: Value, list: &str, spare: &[&str], budget: &Budget) -> Value {
    let mut spared = Vec::with_capacity(spare.len());
    if let Some(fields) = json.as_object_mut() {
        for name in spare {
            spared.extend(fields.remove(*name).map(|value| (*name, value)));
        }
    }
    let fields = json.as_object().map_or(0, Map::len);
    let rows = match json[list].take() {
        Value::Array(rows) => rows,
        _ => Vec::new(),
    };
    let cut = budget::fit_rows(&rows, budget, |kept| {
        let mut answer = json.clone();
        answer[list] = kept.into();
        answer
    });
    let lost = cut.as_object().map_or(0, Map::len) < fields;
    let mut more = cut.clone();
    for (name, value) in spared {
        more[name] = value;
    }
    if !lost && budget.holds(&more) {
        more
    } else {
        cut
    }
}

/// As many whole lines as fit; a first line that is too long by itself is shortened.
pub(super) fn fit_text(json: Value, text: &str, budget: &Budget) -> Value {
    let whole = json[text].as_str().unwrap_or_default();
    let lines: Vec<Value> = whole.split_inclusive('\n').map(Value::from).collect();
    let chars = whole.chars().count();
    budget::fit_rows(&lines, budget, |lines| {
        let mut answer = json.clone();
        let shown: String = lines.iter().filter_map(Value::as_str).collect();
        answer[text] = shown.into();
        answer[format!("{text}_chars")] = chars.into();
        answer
    })
}
