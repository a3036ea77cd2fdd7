//! Canonical JSON, the hashes that rest on it, and differences of values.

use serde_json::{Map, Value};
use understory_model::canon::{entity_hash, entity_hash_map, equal_values, python_json};
use understory_model::{budget, delta, number};

use crate::chance::Chance;
use crate::json;
use crate::target::{Outcome, Target, check, shape, value};

pub struct Canon;

impl Target for Canon {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let numbers = number::check_numbers(input);
        let mut parts = serde_json::Deserializer::from_slice(input).into_iter::<Value>();
        let Some(Ok(first)) = parts.next() else {
            return Ok("not JSON".into());
        };
        let second = parts.next().and_then(Result::ok);
        let first_way = spelling(&first)?;
        if numbers.is_ok() {
            // Digits that were accepted are the digits that are kept.
            let again = python_json(&first);
            check(number::check_numbers(again.as_bytes()).is_ok(), || {
                format!("{again} has a number that would be refused")
            })?;
        }
        if let (Value::Object(before), Some(Value::Object(after))) = (&first, &second) {
            differences(before, after)?;
            return Ok(format!("two {first_way} {}", numbers.is_ok()));
        }
        Ok(format!("one {first_way} {}", numbers.is_ok()))
    }

    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        let words = self.words();
        let mut input = chance.pick(known).clone();
        match (value(&input), chance.below(4)) {
            (Some(mut value), 0 | 1) => {
                json::mutate(chance, &mut value, words);
                let mut other = value.clone();
                json::mutate(chance, &mut other, words);
                format!("{value} {other}").into_bytes()
            }
            (_, 2) => {
                let first = json::any(chance, 4, words);
                json::spelled(chance, &first).into_bytes()
            }
            _ => {
                crate::mutate::mutate(chance, &mut input, words, known);
                input
            }
        }
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "{\"a\":",
            "\"b\"",
            "[1,",
            "1.0",
            "1e22",
            "\\ud83d\\ude00",
            "0.1",
            "1E5",
            "-0.0",
        ]
    }
}

/// One value has one spelling, which says the same.
fn spelling(value: &Value) -> Outcome {
    let spelled = python_json(value);
    check(spelled.is_ascii(), || format!("{spelled} is not ASCII"))?;
    let again: Value = match serde_json::from_str(&spelled) {
        Ok(again) => again,
        Err(error) => return Err(format!("{spelled} cannot be read: {error}")),
    };
    check(equal_values(value, &again), || {
        format!("{value} became {spelled}")
    })?;
    check(python_json(&again) == spelled, || {
        format!("{spelled} has another spelling: {}", python_json(&again))
    })?;
    if let Value::Object(map) = value {
        let hashes = (
            entity_hash(value, Some("x")),
            entity_hash_map(map, Some("x")),
        );
        check(hashes.0 == hashes.1, || format!("{value} has two hashes"))?;
    }
    let text = value.to_string();
    let (chars, most) = (budget::chars(value), budget::at_most(value));
    check(chars == text.chars().count() && most >= text.len(), || {
        format!("{text} is measured as {chars} and at most {most}")
    })?;
    Ok(shape(&spelled).chars().take(12).collect())
}

/// What a difference says leads from one to the other, and back.
fn differences(before: &Map<String, Value>, after: &Map<String, Value>) -> Result<(), String> {
    let changes = delta::diff(before, after);
    let mut there = before.clone();
    delta::apply(&mut there, &changes).map_err(|fault| format!("not applied: {fault}"))?;
    let same = |a: &Map<String, Value>, b: &Map<String, Value>| {
        python_json(&Value::Object(a.clone())) == python_json(&Value::Object(b.clone()))
    };
    check(same(&there, after), || {
        format!("{there:?} is not {after:?}")
    })?;
    delta::unapply(&mut there, &changes).map_err(|fault| format!("not undone: {fault}"))?;
    check(same(&there, before), || {
        format!("{there:?} is not {before:?}")
    })?;
    let mut patched = before.clone();
    delta::merge_patch(&mut patched, after);
    let once = patched.clone();
    delta::merge_patch(&mut patched, after);
    check(once == patched, || {
        format!("{after:?} patches otherwise twice")
    })
}
