//! An answer of which only a few fields matter when it is too long.

use serde_json::{Map, Value, json};

use super::{Budget, bare};

/// The answer whole, or only these fields of it, named by JSON pointers; where even they are too
/// long, nothing but their empty lists.
pub fn fit_fields(answer: Value, fields: &[&str], budget: &Budget) -> Value {
    if budget.holds(&answer) {
        return answer;
    }
    let mut kept = json!({ "truncated": true });
    for field in fields {
        let path: Vec<&str> = field.split('/').skip(1).collect();
        keep(&mut kept, &answer, &path);
    }
    if budget.holds(&kept) {
        kept
    } else {
        bare(kept)
    }
}

/// Copies what lies at the path, with the objects and the first elements of lists on the way.
fn keep(kept: &mut Value, of: &Value, path: &[&str]) {
    let Some((name, rest)) = path.split_first() else {
        *kept = of.clone();
        return;
    };
    match of {
        Value::Object(fields) => {
            let Some(inner) = fields.get(*name) else {
                return;
            };
            if kept.is_null() {
                *kept = Value::Object(Map::new());
            }
            keep(&mut kept[*name], inner, rest);
        }
        Value::Array(elements) if *name == "0" => {
            let Some(first) = elements.first() else {
                return;
            };
            if kept.is_null() {
                *kept = json!([null]);
            }
            keep(&mut kept[0], first, rest);
        }
        _ => {}
    }
}
