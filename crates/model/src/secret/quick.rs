//! A quick pass that tells most texts from those worth a closer look. Every item that is written is passed
//! over, so it looks at few bytes twice and skips what it can.

use super::assigned;

/// The shortest run of a credential's own signs: every known form is longer.
const RUN: usize = 16;
/// Dashes that begin a private key.
const DASHES: usize = 5;

/// Whether a text is worth a closer look. Most texts are ordinary words: a credential is a long run of
/// signs, follows a `:` or `=`, or begins with five dashes.
pub fn may_hold(text: &[u8]) -> bool {
    text.contains(&b':')
        || text.contains(&b'=')
        || has_run(text, RUN, is_sign)
        || has_run(text, DASHES, |byte| byte == b'-')
}

fn is_sign(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Whether so many bytes of a class stand together. Of those one is at every place divisible by their
/// number, so of ordinary words only some letters are looked at.
fn has_run(text: &[u8], length: usize, class: impl Fn(u8) -> bool) -> bool {
    let mut end = length;
    while let Some(before) = text.get(..end) {
        let run = before.iter().rev().take(length);
        let run = run.take_while(|byte| class(**byte)).count();
        if run == length {
            return true;
        }
        end += length - run;
    }
    false
}

/// Whether [`find_in`](super::find_in) may find something in a JSON document, told from how it is written:
/// without reading it, which costs several times as much.
pub fn may_be_in(json: &str) -> bool {
    let mut rest = json.as_bytes();
    while let Some(begin) = rest.iter().position(|byte| *byte == b'"') {
        let inside = &rest[begin + 1..];
        let Some(length) = literal(inside) else {
            return true;
        };
        let text = &inside[..length];
        rest = &inside[length + 1..];
        let is_name = rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
        if is_name && assigned::may_tell(text) || may_hold(text) && !is_digest(text) {
            return true;
        }
    }
    false
}

/// The bytes of a JSON text until its closing quote.
fn literal(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..)?.iter();
        at += rest
            .take_while(|byte| !matches!(byte, b'"' | b'\\'))
            .count();
        if *bytes.get(at)? == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// Digests and ids of ours: lower hex digits, perhaps in groups, which no credential with a form of its own is.
fn is_digest(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_found_wherever_it_stands() {
        for (length, before) in (3..6).flat_map(|length| (0..20).map(move |n| (length, n))) {
            for after in 0..8 {
                let text = |signs: usize| {
                    let (before, after) = ("-x ".repeat(before), " xx".repeat(after));
                    let cut = before.len() / 2;
                    format!("{}{}{after}", &before[cut..], "x".repeat(signs)).replace("xx ", "x ")
                };
                let found = |signs| has_run(text(signs).as_bytes(), length, |byte| byte == b'x');
                let there = |signs| text(signs).contains(&"x".repeat(length));
                for signs in 0..8 {
                    assert_eq!(found(signs), there(signs), "{length} {:?}", text(signs));
                }
            }
        }
    }

    #[test]
    fn a_text_ends_at_its_quote() {
        assert_eq!(literal(br#"ab\"c" d"#), Some(5));
        assert_eq!(literal(br#"\\" d"#), Some(2));
        assert_eq!(literal(b"ab"), None);
        assert_eq!(literal(b"ab\\"), None);
    }
}
