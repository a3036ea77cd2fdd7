//! What a target is: something that takes bytes from outside, and what must hold whatever they are.

use serde_json::Value;
use understory_model::text::is_unseen;
use understory_model::{Code, Fault};

use crate::chance::Chance;
use crate::mutate;

/// What came of one input: a short name of the way it went, or what must not have happened. Inputs
/// that went a way of their own are kept while the run lasts, and others are made of them.
pub type Outcome = Result<String, String>;

/// One place where bytes from outside come in.
pub trait Target {
    /// Runs one input. A panic counts as a failure too.
    fn run(&mut self, input: &[u8]) -> Outcome;

    /// Makes an input; by default of those that are known, by changing bytes.
    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        let mut input = chance.pick(known).clone();
        mutate::mutate(chance, &mut input, self.words(), known);
        input
    }

    /// Words of its format.
    fn words(&self) -> &'static [&'static str] {
        &[]
    }

    /// What is to be run again for the last failure to happen, where one input alone does not say.
    fn trace(&self) -> Option<Vec<u8>> {
        None
    }

    /// Called at the end: what must hold of all inputs together.
    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Which database a target's store is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Sqlite,
    Postgres,
}

/// Fails unless something holds.
pub fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// What every refusal has to be: one that a caller can act on, in words fit for any terminal.
pub fn check_fault(fault: &Fault) -> Result<(), String> {
    let broken = matches!(fault.code, Code::Internal | Code::StoreCorrupt);
    check(!broken, || format!("{}: {fault:?}", fault.code.wire()))?;
    let envelope = fault.envelope("req_1");
    let error = &envelope["error"];
    let told = error["message"]
        .as_str()
        .is_some_and(|text| !text.is_empty());
    check(told && error["code"].is_string(), || {
        format!("an empty error: {envelope}")
    })?;
    for part in ["message", "recovery_hint"] {
        let unseen = |letter: char| is_unseen(letter) && letter != '\n';
        let clean = !error[part]
            .as_str()
            .is_some_and(|text| text.contains(unseen));
        check(clean, || {
            format!("{part} gives a terminal orders: {:?}", error[part])
        })?;
    }
    Ok(())
}

/// The shape of a message: without its numbers and what it quotes, so that alike ones are one.
pub fn shape(text: &str) -> String {
    let mut shape = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphabetic() || letter == ' ' {
            shape.push(letter);
        } else if !shape.ends_with('.') {
            shape.push('.');
        }
        if shape.len() >= 60 {
            break;
        }
    }
    shape
}

/// An input that has to be text.
pub fn text(input: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(input)
}

/// An input that has to be JSON; none if it is not.
pub fn value(input: &[u8]) -> Option<Value> {
    serde_json::from_slice(input).ok()
}
