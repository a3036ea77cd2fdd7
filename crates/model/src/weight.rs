//! What a JSON text will take in memory once it is parsed, estimated before anything is built.
//!
//! An empty array is two bytes of text and thirty-two of memory, an object of one short field nine
//! and about seven hundred. The estimate errs upwards. It is one pass over the text that builds
//! nothing, and it does not say whether the text is JSON.

use crate::error::{Code, Fault};
use crate::limits;

/// A value in a list that has grown: the list may have twice the room that it needs.
const VALUE: usize = 64;
/// An object that has a field: the first node of its tree has room for eleven.
const OBJECT: usize = 640;
/// One more field: its share of a node, and the key's own memory.
const FIELD: usize = 96;
/// A text's own memory besides its bytes.
const TEXT: usize = 32;

/// Refuses a text that would take too much memory.
pub fn check_weight(json: &[u8]) -> Result<usize, Fault> {
    let weight = parsed_bytes(json);
    if weight <= limits::PARSED_BYTES {
        return Ok(weight);
    }
    let problem = format!(
        "the JSON has too many values: it would take {} MB of memory, and the limit is {} MB",
        weight >> 20,
        limits::PARSED_BYTES >> 20
    );
    Err(Fault::new(Code::TooLarge, problem).hint("Split the call."))
}

/// What the values of a text take in memory, the text itself not counted.
pub fn parsed_bytes(json: &[u8]) -> usize {
    let (mut weight, mut at) = (VALUE, 0);
    while at < json.len() {
        match json[at] {
            b'"' => {
                let end = text_end(json, at + 1);
                weight += TEXT + (end - at);
                at = end;
            }
            b',' => weight += VALUE,
            // The first field's node is counted where the object has one.
            b':' => weight += FIELD,
            b'{' if !closes(json, at + 1) => weight += OBJECT,
            b'[' if !closes(json, at + 1) => weight += VALUE,
            _ => {}
        }
        at += 1;
    }
    weight
}

/// Whether what was opened is closed at once.
fn closes(json: &[u8], at: usize) -> bool {
    let next = json[at..].iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(next, Some(b'}' | b']'))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_values_weigh_more_than_their_text() {
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        for (item, least) in [("[]", 32), ("0", 32), ("\"a\"", 48), ("{\"a\":0}", 600)] {
            let weight = parsed_bytes(list(item, 1_000).as_bytes());
            assert!(weight >= 1_000 * least, "{item}: {weight}");
            assert!(weight <= 1_000 * (least + 400), "{item}: {weight}");
        }
        // A long text weighs what it is; commas and braces in it are letters.
        let text = format!("\"{}\"", "[,{:".repeat(10_000));
        assert!(parsed_bytes(text.as_bytes()) < 40_000 + 1_000);
    }

    #[test]
    fn what_would_take_too_much_is_refused_by_name() {
        let most = limits::PARSED_BYTES / VALUE;
        let list = |count: usize| format!("[{}0]", "0,".repeat(count));
        assert!(check_weight(list(most - 10).as_bytes()).is_ok());
        let fault = check_weight(list(most).as_bytes()).unwrap_err();
        assert_eq!(fault.code, Code::TooLarge);
        assert!(fault.message.contains("too many values"));
    }

    #[test]
    fn what_is_not_json_is_weighed_too() {
        for text in ["", "\"", "\"\\", "{", "[", "]]}}", ",,,,"] {
            let _ = parsed_bytes(text.as_bytes());
        }
    }
}
