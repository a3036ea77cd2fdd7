//! Opaque cursors: where the next page of a list begins.
//!
//! A cursor holds the sort keys of the last row seen, never an offset, so rows that arrive in
//! between neither repeat nor hide others. It carries no secret and grants nothing; its checksum
//! finds damage, not forgery, so what it holds must never be trusted beyond its types.

use serde_json::Value;

use crate::canon::sha256;
use crate::error::Fault;
use crate::id::{Id, Number, Seq};
use crate::limits;

const CHECK: usize = 4;

/// A place in an ordered list; `kind` names the list, so that cursors cannot be swapped.
#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    pub kind: String,
    pub keys: Vec<Key>,
}

/// One sort key of a row. Text should be short (an id, a name): see `limits::CURSOR_CHARS`.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    Int(i64),
    Real(f64),
    Text(String),
}

impl Cursor {
    pub fn new(kind: impl Into<String>, keys: Vec<Key>) -> Cursor {
        Cursor {
            kind: kind.into(),
            keys,
        }
    }

    /// The cursor as text that may stand in a URL.
    pub fn encode(&self) -> String {
        let mut parts = vec![Value::from(self.kind.as_str())];
        parts.extend(self.keys.iter().map(Key::to_value));
        let json = Value::Array(parts).to_string();
        let mut bytes = sha256(json.as_bytes())[..CHECK].to_vec();
        bytes.extend_from_slice(json.as_bytes());
        to_base64url(&bytes)
    }

    /// Reads back what `encode` wrote for the same kind of list.
    pub fn decode(text: &str, kind: &str) -> Result<Cursor, Fault> {
        if text.len() > limits::CURSOR_CHARS {
            return Err(refused(format!(
                "is longer than {} characters",
                limits::CURSOR_CHARS
            )));
        }
        let cursor = read(text).ok_or_else(unknown_cursor)?;
        if cursor.kind != kind {
            return Err(refused("belongs to another list"));
        }
        Ok(cursor)
    }

    /// The key at a position, when it is an integer.
    pub fn int<N: Number>(&self, at: usize) -> Result<N, Fault> {
        match self.keys.get(at) {
            Some(Key::Int(int)) => Ok(N::from_number(*int)),
            _ => Err(refused("does not fit this list")),
        }
    }

    /// The key at a position, when it is a number.
    pub fn real(&self, at: usize) -> Result<f64, Fault> {
        match self.keys.get(at) {
            Some(Key::Real(real)) => Ok(*real),
            _ => Err(refused("does not fit this list")),
        }
    }

    /// The key at a position, when it is text.
    pub fn text(&self, at: usize) -> Result<&str, Fault> {
        match self.keys.get(at) {
            Some(Key::Text(text)) => Ok(text),
            _ => Err(refused("does not fit this list")),
        }
    }
}

/// The fault for a cursor that no answer gave.
pub fn unknown_cursor() -> Fault {
    refused("is not a cursor that was given out here")
}

fn refused(problem: impl std::fmt::Display) -> Fault {
    Fault::invalid("cursor", problem).hint("Start again from the first page, without a cursor.")
}

fn read(text: &str) -> Option<Cursor> {
    let bytes = from_base64url(text)?;
    let (check, json) = bytes.split_at_checked(CHECK)?;
    if check != &sha256(json)[..CHECK] {
        return None;
    }
    let Value::Array(parts) = serde_json::from_slice(json).ok()? else {
        return None;
    };
    let mut parts = parts.into_iter();
    let Value::String(kind) = parts.next()? else {
        return None;
    };
    let keys = parts.map(Key::from_value).collect::<Option<_>>()?;
    Some(Cursor { kind, keys })
}

impl Key {
    /// JSON tells integers and reals apart by itself, but has no word for the three that are not
    /// finite; the three literals stand for them.
    fn to_value(&self) -> Value {
        match self {
            Key::Int(int) => Value::from(*int),
            Key::Real(real) if real.is_finite() => Value::from(*real),
            Key::Real(real) if real.is_nan() => Value::Null,
            Key::Real(real) => Value::Bool(real.is_sign_positive()),
            Key::Text(text) => Value::from(text.as_str()),
        }
    }

    fn from_value(value: Value) -> Option<Key> {
        match value {
            Value::Null => Some(Key::Real(f64::NAN)),
            Value::Bool(true) => Some(Key::Real(f64::INFINITY)),
            Value::Bool(false) => Some(Key::Real(f64::NEG_INFINITY)),
            Value::String(text) => Some(Key::Text(text)),
            Value::Number(number) if number.is_f64() => number.as_f64().map(Key::Real),
            Value::Number(number) => number.as_i64().map(Key::Int),
            Value::Array(_) | Value::Object(_) => None,
        }
    }
}

impl From<i64> for Key {
    fn from(int: i64) -> Key {
        Key::Int(int)
    }
}

impl From<Seq> for Key {
    fn from(seq: Seq) -> Key {
        Key::Int(seq.0)
    }
}

impl From<Id> for Key {
    fn from(id: Id) -> Key {
        Key::Int(id.0)
    }
}

impl From<f64> for Key {
    fn from(real: f64) -> Key {
        Key::Real(real)
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Key {
        Key::Text(text.to_owned())
    }
}

impl From<String> for Key {
    fn from(text: String) -> Key {
        Key::Text(text)
    }
}

/// How many rows to answer: what was asked, within 1 and the maximum.
pub fn limit(asked: Option<i64>, default: i64, max: i64) -> i64 {
    asked.unwrap_or(default).min(max).max(1)
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn to_base64url(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for shift in [18, 12, 6, 0].iter().take(chunk.len() + 1) {
            out.push(char::from(ALPHABET[(bits >> shift & 63) as usize]));
        }
    }
    out
}

fn from_base64url(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for i in 0..4 {
            let six = match chunk.get(i) {
                Some(c) => ALPHABET.iter().position(|a| a == c)?,
                None => 0,
            };
            bits = bits << 6 | u32::try_from(six).ok()?;
        }
        let [_, a, b, c] = bits.to_be_bytes();
        match chunk.len() {
            4 => out.extend([a, b, c]),
            // Bits that no encoder writes: one value has one spelling.
            3 if c == 0 => out.extend([a, b]),
            2 if b == 0 && c == 0 => out.push(a),
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn cursor() -> Cursor {
        Cursor::new(
            "log",
            vec![Key::Int(-7), Key::Real(1.0), Key::Text("é/?".into())],
        )
    }

    #[test]
    fn round_trip() {
        let text = cursor().encode();
        assert!(
            text.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        );
        let back = Cursor::decode(&text, "log").unwrap();
        assert_eq!(back, cursor());
        assert_eq!(
            (back.int(0), back.real(1), back.text(2)),
            (Ok(-7), Ok(1.0), Ok("é/?"))
        );
        assert!(back.int::<i64>(1).is_err() && back.text(3).is_err());
        for real in [
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.1 + 0.2,
            f64::MIN_POSITIVE,
        ] {
            let text = Cursor::new("s", vec![real.into()]).encode();
            assert_eq!(Cursor::decode(&text, "s").unwrap().real(0), Ok(real));
        }
        let nan = Cursor::decode(&Cursor::new("s", vec![f64::NAN.into()]).encode(), "s").unwrap();
        assert!(nan.real(0).unwrap().is_nan());
    }

    #[test]
    fn anything_else_is_refused_with_a_hint() {
        let good = cursor().encode();
        let mut damaged = good.clone();
        damaged.replace_range(8..9, if &good[8..9] == "A" { "B" } else { "A" });
        let long = "A".repeat(limits::CURSOR_CHARS + 1);
        for bad in [
            "",
            "A",
            "AAAA",
            "é",
            "====",
            &damaged,
            &good[1..],
            &good[..9],
            &long,
        ] {
            let fault = Cursor::decode(bad, "log").unwrap_err();
            assert_eq!(fault.code, Code::Validation, "{bad}");
            assert!(fault.hint.is_some());
        }
        assert!(Cursor::decode(&good, "records").is_err());
        assert!(Cursor::decode(&format!("{good}="), "log").is_err());
    }

    #[test]
    fn every_length_survives() {
        for n in 0..20_u8 {
            let bytes: Vec<u8> = (0..n).map(|i| i.wrapping_mul(73) ^ 0xa5).collect();
            assert_eq!(from_base64url(&to_base64url(&bytes)), Some(bytes));
        }
    }

    #[test]
    fn limits() {
        assert_eq!(limit(None, 20, 200), 20);
        assert_eq!(limit(Some(0), 20, 200), 1);
        assert_eq!(limit(Some(-5), 20, 200), 1);
        assert_eq!(limit(Some(i64::MAX), 20, 200), 200);
    }
}
