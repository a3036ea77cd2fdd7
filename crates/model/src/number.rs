//! Numbers of a JSON text that would not be kept as they are written.
//!
//! An integer beyond 64 bits would become a float and lose its digits, and `-0` would become
//! another number than it is. Both are found in the text, before anything reads it.

use crate::error::Fault;

/// Where one is, and its refusal.
pub fn check_numbers(json: &[u8]) -> Result<(), Fault> {
    match lost(json) {
        None => Ok(()),
        Some((at, true)) => Err(Fault::invalid(at, "is -0, which is not an integer")
            .hint("Send 0, or -0.0 for the float.")),
        Some((at, false)) => Err(Fault::invalid(
            at,
            "is an integer beyond 64 bits, whose digits would be lost",
        )
        .hint("Send it as a text.")),
    }
}

/// What a value stands in.
enum Inside {
    /// Where the name of its field begins and ends.
    Object(usize, usize),
    Array(usize),
}

/// The path of the first such number, and whether it is `-0`. Of a text that is not JSON, any
/// answer will do: its parser says so.
fn lost(json: &[u8]) -> Option<(String, bool)> {
    let mut inside: Vec<Inside> = Vec::new();
    let (mut at, mut text) = (0, (0, 0));
    while at < json.len() {
        match json[at] {
            b'"' => {
                let end = text_end(json, at + 1);
                text = (at + 1, end);
                at = end;
            }
            b':' => {
                if let Some(Inside::Object(start, end)) = inside.last_mut() {
                    (*start, *end) = text;
                }
            }
            b'{' => inside.push(Inside::Object(0, 0)),
            b'[' => inside.push(Inside::Array(0)),
            b'}' | b']' => {
                inside.pop();
            }
            b',' => {
                if let Some(Inside::Array(index)) = inside.last_mut() {
                    *index += 1;
                }
            }
            b'-' | b'0'..=b'9' => {
                let rest = json[at..].iter();
                let length = rest.take_while(|byte| is_number(**byte)).count();
                let number = &json[at..at + length];
                if let Some(zero) = not_kept(number) {
                    return Some((path(json, &inside), zero));
                }
                at += length - 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The place of the quotation mark that ends a text.
fn text_end(json: &[u8], mut at: usize) -> usize {
    while at < json.len() {
        match json[at] {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

fn is_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Whether a number is an integer that is not kept, and then whether it is `-0`.
fn not_kept(number: &[u8]) -> Option<bool> {
    if number == b"-0" {
        return Some(true);
    }
    let plain = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
    if number.len() < 19 || !number.iter().all(plain) {
        return None;
    }
    let text = std::str::from_utf8(number).unwrap_or_default();
    (text.parse::<i64>().is_err() && text.parse::<u64>().is_err()).then_some(false)
}

fn path(json: &[u8], inside: &[Inside]) -> String {
    let mut path = String::new();
    for step in inside {
        match step {
            Inside::Object(start, end) => {
                if !path.is_empty() {
                    path.push('.');
                }
                let name = json.get(*start..*end).unwrap_or_default();
                path.extend(String::from_utf8_lossy(name).chars().take(80));
            }
            Inside::Array(index) => path.push_str(&format!("[{index}]")),
        }
    }
    if path.is_empty() {
        "body".to_string()
    } else {
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_beyond_64_bits_are_named() {
        let wrong = [
            (r#"{"a": {"b": [1, 18446744073709551616]}}"#, "a.b[1]"),
            (
                r#"{"x": "9999999999999999999999", "n": -9223372036854775809}"#,
                "n",
            ),
            (
                r#"[{"q\"uote": 115792089237316195423570985008687907853269984665640564039457}]"#,
                "[0].q\\\"uote",
            ),
            ("36893488147419103232", "body"),
        ];
        for (json, at) in wrong {
            assert_eq!(
                lost(json.as_bytes()),
                Some((at.to_string(), false)),
                "{json}"
            );
        }
        assert_eq!(lost(br#"{"a": -0}"#), Some(("a".to_string(), true)));
        let kept = [
            r#"{"a": 18446744073709551615, "b": -9223372036854775808, "c": 1e77, "d": -0.0}"#,
            r#"{"a": "-0", "b": "\\", "c": 0, "d": 10000000000000000000000.5}"#,
            "",
            "{\"",
        ];
        for json in kept {
            assert!(check_numbers(json.as_bytes()).is_ok(), "{json}");
        }
        let fault = check_numbers(b"{\"n\": 18446744073709551616}").unwrap_err();
        assert_eq!(
            fault.message,
            "n: is an integer beyond 64 bits, whose digits would be lost"
        );
    }
}
