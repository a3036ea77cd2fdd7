//! JSON made and changed with knowledge of JSON: kinds swapped, numbers at their edges, deep nests,
//! fields left out, given twice or put elsewhere.

use serde_json::{Map, Value, json};

use crate::chance::Chance;
use crate::mutate;

/// Any value, `depth` levels deep at most.
pub fn any(chance: &mut Chance, depth: usize, words: &[&str]) -> Value {
    match chance.below(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => json!(chance.one_in(2)),
        2 => number(chance),
        3..=5 => json!(mutate::text(chance, words)),
        6 => {
            let count = chance.few(6);
            (0..count).map(|_| any(chance, depth - 1, words)).collect()
        }
        7 => {
            let count = chance.few(6);
            let mut map = Map::new();
            for _ in 0..count {
                map.insert(key(chance, words), any(chance, depth - 1, words));
            }
            Value::Object(map)
        }
        _ => nested(chance),
    }
}

fn key(chance: &mut Chance, words: &[&str]) -> String {
    if chance.one_in(3) || words.is_empty() {
        mutate::text(chance, words)
    } else {
        chance.pick(words).to_string()
    }
}

pub fn number(chance: &mut Chance) -> Value {
    match chance.below(8) {
        0 => json!(chance.pick(&[0.5, -0.0, 1e300, 5e-324, 1e16, 0.1, -1.5, 2.0])),
        1 => json!(u64::MAX),
        2 => json!(i64::MIN),
        3 => json!(f64::from_bits(chance.draw())),
        4 => json!(chance.below(300)),
        _ => mutate::number(chance)
            .parse()
            .map_or(json!(7), |n: i64| json!(n)),
    }
}

/// One value inside many.
fn nested(chance: &mut Chance) -> Value {
    let mut value = json!(1);
    for _ in 0..*chance.pick(&[2, 10, 62, 63, 64, 65, 70, 100]) {
        value = if chance.one_in(4) {
            json!({ "a": value })
        } else {
            json!([value])
        };
    }
    value
}

/// Changes one place of a value.
pub fn mutate(chance: &mut Chance, value: &mut Value, words: &[&str]) {
    let count = places(value);
    let wanted = chance.below(count);
    if let Some(place) = find(value, &mut { wanted }) {
        change(chance, place, words);
    }
}

fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Object(map) => map.values().map(places).sum::<usize>(),
        _ => 0,
    }
}

fn find<'v>(value: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| find(item, left)),
        Value::Object(map) => map.values_mut().find_map(|item| find(item, left)),
        _ => None,
    }
}

fn change(chance: &mut Chance, place: &mut Value, words: &[&str]) {
    match place {
        Value::Object(map) if chance.one_in(2) => {
            let names: Vec<String> = map.keys().cloned().collect();
            match chance.below(3) {
                0 => drop(map.insert(key(chance, words), any(chance, 2, words))),
                1 if !names.is_empty() => drop(map.remove(chance.pick(&names))),
                _ if !names.is_empty() => {
                    let moved = map.remove(chance.pick(&names)).unwrap_or_default();
                    map.insert(key(chance, words), moved);
                }
                _ => {}
            }
        }
        Value::Array(items) if chance.one_in(2) => match chance.below(3) {
            0 => items.push(any(chance, 2, words)),
            1 => drop(items.pop()),
            _ => {
                let copy = items.first().cloned().unwrap_or_default();
                items.extend(std::iter::repeat_n(copy, 1 + chance.few(8)));
            }
        },
        Value::String(text) if chance.one_in(2) => {
            let mut bytes = std::mem::take(text).into_bytes();
            mutate::mutate(chance, &mut bytes, words, &[]);
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        place if chance.one_in(3) => {
            let inner = place.take();
            *place = match chance.below(3) {
                0 => json!([inner]),
                1 => json!({ "value": inner }),
                _ => json!(inner.to_string()),
            };
        }
        place => *place = any(chance, 2, words),
    }
}

/// A value as text that says the same otherwise: white space, escapes, a field said twice.
pub fn spelled(chance: &mut Chance, value: &Value) -> String {
    let mut text = if chance.one_in(6) {
        serde_json::to_string_pretty(value).unwrap_or_default()
    } else {
        value.to_string()
    };
    if chance.one_in(10)
        && let Some(map) = value.as_object()
        && let Some((name, value)) = map.iter().next()
    {
        let twice = format!("{{{}:{value},", json!(name));
        text.replace_range(..1, &twice);
    }
    if chance.one_in(10) {
        text = text.replace("\"a", "\"\\u0061");
    }
    text
}
