//! One spelling for every JSON value, and the hashes that rest on it.
//!
//! The spelling is that of Python's `json.dumps(v, sort_keys=True, separators=(',', ':'))`, so that
//! anyone can recompute an entity's hash with three lines of a language we do not ship. It must
//! never depend on how a map happens to be ordered, and must never change: hashes are stored.

use std::fmt::Write;

use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

/// The value as Python's `json` module spells it, byte for byte.
pub fn python_json(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

/// The hash of an entity's state, chained to the hash of the state before it.
pub fn entity_hash(data: &Value, previous: Option<&str>) -> String {
    let mut out = String::with_capacity(512);
    write_value(&mut out, data);
    chain(out, previous)
}

/// As `entity_hash`, for data that is not wrapped in a `Value`.
pub fn entity_hash_map(data: &Map<String, Value>, previous: Option<&str>) -> String {
    let mut out = String::with_capacity(512);
    write_map(&mut out, data);
    chain(out, previous)
}

fn chain(mut text: String, previous: Option<&str>) -> String {
    text.push('|');
    text.push_str(previous.unwrap_or(""));
    hex(&sha256(text.as_bytes()))
}

pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    }
    out
}

/// The bytes that a hexadecimal text stands for, in either case; `None` for any other text.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect()
}

/// Equality of JSON values: `1` and `1.0` are one number, and the order of keys says nothing.
pub fn equal_values(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => equal_numbers(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal_values(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| equal_values(a, b)))
        }
        _ => a == b,
    }
}

fn equal_numbers(a: &Number, b: &Number) -> bool {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.as_f64() == b.as_f64(),
        (Some(int), None) => equal_mixed(int, b),
        (None, Some(int)) => equal_mixed(int, a),
    }
}

/// Exact: turning the integer into a float instead would make 2^53 equal to 2^53 + 1.
fn equal_mixed(int: i128, real: &Number) -> bool {
    // A JSON integer lies within ±2^64, and `as` saturates far beyond that.
    real.as_f64()
        .is_some_and(|real| real.fract() == 0.0 && real as i128 == int)
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_text(out, text),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => write_map(out, map),
    }
}

fn write_map(out: &mut String, map: &Map<String, Value>) {
    // serde_json sorts its maps unless some crate in the build turns `preserve_order` on; the
    // bytes may not depend on that. UTF-8 sorts by code point, as Python does.
    if map.keys().is_sorted() {
        write_entries(out, map.iter());
    } else {
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        write_entries(out, entries.into_iter());
    }
}

fn write_entries<'a>(out: &mut String, entries: impl Iterator<Item = (&'a String, &'a Value)>) {
    out.push('{');
    for (i, (key, value)) in entries.enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_text(out, key);
        out.push(':');
        write_value(out, value);
    }
    out.push('}');
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    // Most text is plain ASCII: it is copied in runs, and only what is not is looked at singly.
    while let Some(at) = rest
        .bytes()
        .position(|b| !(b' '..=b'~').contains(&b) || b == b'"' || b == b'\\')
    {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = special.chars();
        if let Some(special) = chars.next() {
            write_escape(out, special);
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn write_escape(out: &mut String, special: char) {
    match special {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        other => {
            for unit in other.encode_utf16(&mut [0; 2]) {
                out.push_str("\\u");
                for shift in [12, 8, 4, 0] {
                    out.push(char::from(HEX[usize::from(*unit >> shift & 15)]));
                }
            }
        }
    }
}

fn write_number(out: &mut String, number: &Number) {
    // Writing to a String cannot fail, so the results carry nothing.
    let _ = match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(int), _, _) => write!(out, "{int}"),
        (None, Some(int), _) => write!(out, "{int}"),
        (None, None, Some(real)) => {
            write_real(out, real);
            Ok(())
        }
        (None, None, None) => write!(out, "{number}"),
    };
}

/// Python's `repr`: the shortest digits that read back as the same number, as a plain decimal
/// from 1e-4 up to below 1e16 and with a signed exponent of at least two digits elsewhere.
fn write_real(out: &mut String, real: f64) {
    let shortest = shortest(real.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if real.is_sign_negative() {
        out.push('-');
    }
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "{mantissa}e{sign}{:02}", exponent.unsigned_abs());
        return;
    }
    let places = usize::try_from(exponent.unsigned_abs()).unwrap_or(0);
    let zeros = |out: &mut String, n: usize| out.extend(std::iter::repeat_n('0', n));
    if exponent < 0 {
        out.push_str("0.");
        zeros(out, places - 1);
        out.push_str(whole);
        out.push_str(fraction);
    } else if fraction.len() > places {
        let (left, right) = fraction.split_at(places);
        out.push_str(whole);
        out.push_str(left);
        out.push('.');
        out.push_str(right);
    } else {
        out.push_str(whole);
        out.push_str(fraction);
        zeros(out, places - fraction.len());
        out.push_str(".0");
    }
}

/// The shortest digits, in the form `1.25e-7`. Where two spellings are equally short and equally
/// near, Python takes the one with an even last digit, and Rust promises neither.
fn shortest(real: f64) -> String {
    let text = format!("{real:e}");
    even_tie(real, &text).unwrap_or(text)
}

fn even_tie(real: f64, text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once('e')?;
    let (head, last) = mantissa.split_at_checked(mantissa.len().checked_sub(1)?)?;
    // With fewer than 16 digits (and their point) no equally short neighbour means the same.
    if mantissa.len() < 17 || matches!(last, "0" | "2" | "4" | "6" | "8") {
        return None;
    }
    // Sixty places tell a true tie from a near one: no double and no number of 18 digits come
    // closer to each other than about 1e-37 of their size without being equal.
    let exact = format!("{real:.60e}");
    let mut digits = exact.split_once('e')?.0.strip_prefix(head)?.bytes();
    let lower = digits.next()?;
    if digits.next()? != b'5' || digits.any(|digit| digit != b'0') {
        return None;
    }
    let even = char::from(lower + (lower & 1));
    let other = format!("{head}{even}e{exponent}");
    (other.parse() == Ok(real)).then_some(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn spelling() {
        let value = json!({"b": [1, -2, 1.0, 1e16, 1e-5, -0.0], "a": "é😀\u{7f}\n\"", "B": null});
        assert_eq!(
            python_json(&value),
            r#"{"B":null,"a":"\u00e9\ud83d\ude00\u007f\n\"","b":[1,-2,1.0,1e+16,1e-05,-0.0]}"#
        );
    }

    #[test]
    fn hash_covers_data_and_predecessor() {
        let data = json!({"a": 1});
        let first = entity_hash(&data, None);
        assert_eq!(first, hex(&sha256(br#"{"a":1}|"#)));
        assert_eq!(
            entity_hash(&data, Some("00")),
            hex(&sha256(br#"{"a":1}|00"#))
        );
        assert_eq!(
            data.as_object().map(|map| entity_hash_map(map, None)),
            Some(first)
        );
    }

    #[test]
    fn hex_both_ways() {
        assert_eq!(unhex("00fFa1"), Some(vec![0, 255, 161]));
        assert_eq!(hex(&[0, 255, 161]), "00ffa1");
        for bad in ["0", "0g", "+1", "é"] {
            assert_eq!(unhex(bad), None, "{bad}");
        }
    }

    #[test]
    fn equality_is_of_values() {
        assert!(equal_values(
            &json!({"a": [1, 2.0]}),
            &json!({"a": [1.0, 2]})
        ));
        assert!(!equal_values(
            &json!(9007199254740993_i64),
            &json!(9007199254740992.0)
        ));
        assert!(equal_values(&json!(-0.0), &json!(0)));
        assert!(!equal_values(
            &json!(u64::MAX),
            &json!(18446744073709551616.0)
        ));
        assert!(!equal_values(&json!(1), &json!("1")));
        assert!(!equal_values(&json!({"a": null}), &json!({"b": null})));
    }
}
