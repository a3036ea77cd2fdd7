//! An answer as it is sent: compact JSON, written once and then only copied.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Code, Fault, Result};

/// The text of an answer. Copies share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written(Arc<str>);

impl Written {
    pub fn of<T: Serialize>(answer: &T) -> Result<Written> {
        let text = serde_json::to_string(answer).map_err(|error| {
            let problem = format!("an answer could not be serialised: {error}");
            Fault::new(Code::Internal, problem)
        })?;
        Ok(Written(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is an object, as protocols want an answer to be.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// The answer as an object: anything else is put into one, as `result`.
    #[must_use]
    pub fn into_object(self) -> Written {
        if self.is_object() {
            self
        } else {
            Written(format!("{{\"result\":{}}}", self.0).into())
        }
    }

    /// The answer read again, for whoever looks into it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.0).map_err(|error| {
            let problem = format!("an answer does not have its type: {error}");
            Fault::new(Code::Internal, problem)
        })
    }

    /// The answer with further fields, if it is an object.
    pub fn with(self, add: impl FnOnce(&mut Map<String, Value>)) -> Result<Written> {
        match self.read()? {
            Value::Object(mut fields) => {
                add(&mut fields);
                Written::of(&fields)
            }
            _ => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn anything_becomes_an_object() {
        let written = |value: Value| Written::of(&value).unwrap().into_object();
        assert_eq!(written(json!({"a": 1})).as_str(), r#"{"a":1}"#);
        assert_eq!(written(json!([1])).as_str(), r#"{"result":[1]}"#);
    }

    #[test]
    fn fields_are_added_to_objects_only() {
        let add = |fields: &mut Map<String, Value>| drop(fields.insert("b".into(), 2.into()));
        let with = |value: Value| Written::of(&value).unwrap().with(add).unwrap();
        assert_eq!(with(json!({"a": 1})).as_str(), r#"{"a":1,"b":2}"#);
        assert_eq!(with(json!([1])).as_str(), "[1]");
    }
}
