//! What a tool answers: a typed value, or the JSON that was made of one.
//!
//! A rule makes a typed value. It becomes JSON early in two cases only: when it had to be shortened
//! to the caller's budget, which is counted in characters of JSON, and when a retry is answered with
//! what was kept of the first call. Everything else is serialised once, at the edge.

mod fit;
mod written;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::error::{Code, Fault, Result};
pub use fit::{Fit, Shape, Step, fit, fit_fields};
pub use written::Written;

/// An answer on its way out.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<T> {
    /// As the rule made it.
    Whole(T),
    /// Shortened to a budget, or kept from an earlier call.
    Json(Value),
}

impl<T> From<T> for Answer<T> {
    fn from(answer: T) -> Answer<T> {
        Answer::Whole(answer)
    }
}

impl<T: Serialize> Serialize for Answer<T> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Answer::Whole(answer) => answer.serialize(to),
            Answer::Json(json) => json.serialize(to),
        }
    }
}

impl<T: Serialize> Answer<T> {
    /// The answer as it is sent.
    pub fn written(&self) -> Result<Written> {
        Written::of(self)
    }

    /// The answer as JSON.
    pub fn into_json(self) -> Result<Value> {
        match self {
            Answer::Whole(answer) => json_of(&answer),
            Answer::Json(json) => Ok(json),
        }
    }
}

impl<T> Answer<Answer<T>> {
    /// The answer of a rule that has already fitted it into a budget.
    pub fn flatten(self) -> Answer<T> {
        match self {
            Answer::Whole(answer) => answer,
            Answer::Json(json) => Answer::Json(json),
        }
    }
}

impl<T> Answer<T> {
    /// The answer as another type that has the same JSON.
    pub fn map<U>(self, into: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Answer::Whole(answer) => Answer::Whole(into(answer)),
            Answer::Json(json) => Answer::Json(json),
        }
    }
}

impl<T: DeserializeOwned> Answer<T> {
    /// The typed answer. One that was shortened may lack what its type requires.
    pub fn typed(self) -> Result<T> {
        match self {
            Answer::Whole(answer) => Ok(answer),
            Answer::Json(json) => serde_json::from_value(json).map_err(|error| {
                let problem = format!("an answer does not have its type: {error}");
                Fault::new(Code::Internal, problem)
            }),
        }
    }
}

/// Where the next page of a list begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// An encoded [`Cursor`](crate::page::Cursor).
    Cursor(String),
    /// The number of its first line.
    Line(usize),
}

impl From<String> for Next {
    fn from(cursor: String) -> Next {
        Next::Cursor(cursor)
    }
}

impl From<Next> for Value {
    fn from(next: Next) -> Value {
        match next {
            Next::Cursor(cursor) => cursor.into(),
            Next::Line(line) => line.into(),
        }
    }
}

/// A value as the fields that an item or entity keeps.
pub fn fields_of<T: Serialize>(value: &T) -> Result<Map<String, Value>> {
    match json_of(value)? {
        Value::Object(fields) => Ok(fields),
        _ => Err(Fault::new(Code::Internal, "a value has no fields")),
    }
}

/// Any answer, or part of one, as JSON.
pub fn json_of<T: Serialize>(answer: &T) -> Result<Value> {
    serde_json::to_value(answer).map_err(|error| {
        let problem = format!("an answer could not be serialised: {error}");
        Fault::new(Code::Internal, problem)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_kept_answer_has_its_type_again() {
        let kept: Answer<Vec<i64>> = Answer::Json(json!([1, 2]));
        assert_eq!(kept.typed().unwrap(), [1, 2]);
        let cut: Answer<Vec<i64>> = Answer::Json(json!({ "truncated": true }));
        assert_eq!(cut.typed().unwrap_err().code, Code::Internal);
    }
}
