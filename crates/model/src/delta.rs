//! What changed between two states of an entity, small enough to keep for every change.
//!
//! A change knows both sides, so history can be walked in either direction. Applying one must
//! never guess: where the data is not what the change says it was, the store is damaged, and that
//! is reported instead of papered over.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error::{Code, Fault};

/// One change at one place; `None` means that nothing was, or is, there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub at: Vec<String>,
    #[serde(
        rename = "was",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub before: Option<Value>,
    #[serde(
        rename = "is",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub after: Option<Value>,
}

/// Reads a `null` that is there as a value; serde on its own would take it for an absence.
pub(crate) fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Change {
    /// The place, readable: `properties.priority`.
    pub fn field(&self) -> String {
        self.at.join(".")
    }

    fn new(at: &[&str], before: Option<&Value>, after: Option<&Value>) -> Change {
        Change {
            at: at.iter().map(|key| (*key).to_owned()).collect(),
            before: before.cloned(),
            after: after.cloned(),
        }
    }

    fn corrupt(&self) -> Fault {
        Fault::new(
            Code::StoreCorrupt,
            format!(
                "the history of {} does not fit the data it is applied to",
                self.field()
            ),
        )
        .hint("run `understory verify` to find where the store is damaged")
    }
}

/// What leads from `before` to `after`, in the order in which `apply` wants it.
pub fn diff(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<Change> {
    let mut changes = Vec::new();
    for key in keys([before, after]) {
        match (before.get(key), after.get(key)) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => {
                diff_inside(key, old, new, &mut changes);
            }
            (Some(Value::Array(old)), Some(Value::Array(new))) => {
                diff_tail(key, old, new, &mut changes);
            }
            (old, new) => diff_whole(&[key], old, new, &mut changes),
        }
    }
    changes
}

/// The keys of several maps, each once, sorted whatever order the maps keep.
pub(crate) fn keys<'a>(maps: impl IntoIterator<Item = &'a Map<String, Value>>) -> Vec<&'a str> {
    let mut keys: Vec<&str> = maps
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn diff_inside(
    field: &str,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    out: &mut Vec<Change>,
) {
    for key in keys([old, new]) {
        diff_whole(&[field, key], old.get(key), new.get(key), out);
    }
}

fn diff_tail(field: &str, old: &[Value], new: &[Value], out: &mut Vec<Change>) {
    let shared = old.len().min(new.len());
    if !old.iter().zip(new).all(|(old, new)| same(old, new)) {
        out.push(Change {
            at: vec![field.to_owned()],
            before: Some(old.to_vec().into()),
            after: Some(new.to_vec().into()),
        });
        return;
    }
    for (i, value) in new.iter().enumerate().skip(shared) {
        out.push(Change::new(&[field, &i.to_string()], None, Some(value)));
    }
    // From the end, so that each removal takes what is then the last element.
    for (i, value) in old.iter().enumerate().skip(shared).rev() {
        out.push(Change::new(&[field, &i.to_string()], Some(value), None));
    }
}

fn diff_whole(at: &[&str], old: Option<&Value>, new: Option<&Value>, out: &mut Vec<Change>) {
    if !same_option(old, new) {
        out.push(Change::new(at, old, new));
    }
}

fn same_option(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Equality down to the spelling: `==` except that 0.0 and -0.0 differ, because their hashes do.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) if x.is_f64() && y.is_f64() => {
            x.as_f64().map(f64::to_bits) == y.as_f64().map(f64::to_bits)
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len()
                && x.iter()
                    .all(|(key, x)| y.get(key).is_some_and(|y| same(x, y)))
        }
        _ => a == b,
    }
}

/// Walks forwards. After a fault the data is half changed and must be thrown away.
pub fn apply(data: &mut Map<String, Value>, changes: &[Change]) -> Result<(), Fault> {
    for change in changes {
        step(data, change, change.before.as_ref(), change.after.as_ref())?;
    }
    Ok(())
}

/// Walks backwards. After a fault the data is half changed and must be thrown away.
pub fn unapply(data: &mut Map<String, Value>, changes: &[Change]) -> Result<(), Fault> {
    for change in changes.iter().rev() {
        step(data, change, change.after.as_ref(), change.before.as_ref())?;
    }
    Ok(())
}

fn step(
    data: &mut Map<String, Value>,
    change: &Change,
    from: Option<&Value>,
    to: Option<&Value>,
) -> Result<(), Fault> {
    let fits = match change.at.as_slice() {
        [field] => set_key(data, field, from, to),
        [field, key] => match data.get_mut(field) {
            Some(Value::Object(inner)) => set_key(inner, key, from, to),
            Some(Value::Array(items)) => set_index(items, key, from, to),
            _ => false,
        },
        _ => false,
    };
    if fits { Ok(()) } else { Err(change.corrupt()) }
}

fn set_key(
    map: &mut Map<String, Value>,
    key: &str,
    from: Option<&Value>,
    to: Option<&Value>,
) -> bool {
    if !same_option(map.get(key), from) {
        return false;
    }
    match to {
        Some(value) => map.insert(key.to_owned(), value.clone()),
        None => map.remove(key),
    };
    true
}

fn set_index(items: &mut Vec<Value>, key: &str, from: Option<&Value>, to: Option<&Value>) -> bool {
    let Ok(index) = key.parse::<usize>() else {
        return false;
    };
    if !same_option(items.get(index), from) {
        return false;
    }
    match to {
        Some(value) if index == items.len() => items.push(value.clone()),
        Some(value) if index < items.len() => items[index] = value.clone(),
        // Only the last may go: anything else would shift what follows it.
        None if index + 1 == items.len() => items.truncate(index),
        _ => return false,
    }
    true
}

/// Merges top-level fields into the target; a `null` in the patch deletes the field.
pub fn merge_patch(target: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            target.insert(key.clone(), value.clone());
        }
    }
}
