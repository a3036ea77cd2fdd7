//! The names of things that stand in a text: handles, lines of documents, parts of what was said, agents,
//! commits, addresses of pages.
//!
//! One pass over the text. Whether a name stands for something is told only where it can be told without
//! asking the store once for each: everything else is a link that says so itself if it leads nowhere.

use std::ops::Range;

use understory_model::refs::{is_fragment_id, parse_lines};

use super::is_hidden;

/// What a word of a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name<'t> {
    /// Of something that `go/…` leads to.
    Thing(&'t str),
    /// `label:3`, of which it is to be asked whether there is such a label.
    Lines(&'t str),
    /// `http` or `https`.
    Address(&'t str),
    /// Of a commit in somebody's repository, which the pages know nothing of.
    Hash(&'t str),
}

/// The names in a text, each with its place in bytes, in order.
pub fn names(text: &str) -> Vec<(Range<usize>, Name<'_>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = next_word(text, at) {
        at = word.end;
        let (place, is_address) = bare(text, word);
        let shown = &text[place.clone()];
        let name = match is_address {
            true => Some(Name::Address(shown)),
            false => named(shown),
        };
        if let Some(name) = name {
            found.push((place, name));
        }
    }
    found
}

/// The names of things in a text that have a page, in order: no commits, agents or addresses.
pub fn handles(text: &str) -> impl Iterator<Item = &str> {
    let found = names(text).into_iter();
    found.filter_map(|(_, name)| match name {
        Name::Thing(name) if !name.starts_with('@') => Some(name),
        Name::Lines(name) => Some(name),
        _ => None,
    })
}

/// The next run of signs that names are made of.
fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let begin = from + rest.find(is_part)?;
    let word = &text[begin..];
    let end = match is_address(word) {
        true => word.find(|c: char| c.is_whitespace() || is_hidden(c) || "<>\"`".contains(c)),
        false => word.find(|c: char| !is_part(c)),
    };
    Some(begin..begin + end.unwrap_or(word.len()))
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || "_-./:@#^".contains(c)
}

pub fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://");
    let rest = rest.or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '['))
}

/// A word without the punctuation around it.
fn bare(text: &str, word: Range<usize>) -> (Range<usize>, bool) {
    let shown = &text[word.clone()];
    if is_address(shown) {
        let mut end = shown
            .trim_end_matches(|c: char| ".,;:!?*_'".contains(c))
            .len();
        // A bracket that was opened before the address is not a part of it.
        if shown[..end].ends_with(')') && !shown.contains('(') {
            end = shown[..end].trim_end_matches(')').len();
        }
        return (word.start..word.start + end, true);
    }
    let end = shown.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    let front = |c: char| !(c.is_alphanumeric() || matches!(c, '^' | '@'));
    let start = end - shown[..end].trim_start_matches(front).len();
    (word.start + start..word.start + end, false)
}

/// What a word is, if it is the name of anything.
pub fn named(word: &str) -> Option<Name<'_>> {
    let is_thing = is_handle(word)
        || is_fragment_id(word)
        || is_agent(word)
        || is_id(word)
        || word.split_once('#').is_some_and(|(thread, part)| {
            let of_thread = thread.starts_with("th_") && is_handle(thread) && digits(part, 1);
            of_thread || (is_id(thread) && is_fragment_id(part))
        });
    if is_thing {
        return Some(Name::Thing(word));
    }
    if parse_lines(word).is_some_and(|lines| is_label(lines.label) && lines.first > 0) {
        return Some(Name::Lines(word));
    }
    is_hash(word).then_some(Name::Hash(word))
}

fn digits(text: &str, least: usize) -> bool {
    (least..16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word is the handle of a task, record, thread, message, wake or proposal.
fn is_handle(word: &str) -> bool {
    let numbered = |prefix: &&str, least| {
        let rest = word.strip_prefix(*prefix);
        rest.is_some_and(|rest| digits(rest, least))
    };
    ["TASK-", "PLAN-", "th_", "R", "wake_", "prop_"]
        .iter()
        .any(|prefix| numbered(prefix, 3))
        || numbered(&"msg_", 1)
}

fn is_id(word: &str) -> bool {
    let uuid = ["item_", "entity_", "uuid_", "rel_"]
        .iter()
        .find_map(|prefix| word.strip_prefix(prefix));
    uuid.is_some_and(|uuid| {
        uuid.len() == 36
            && uuid
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    })
}

/// `@ada`; the signs are those of the references that the store keeps.
fn is_agent(word: &str) -> bool {
    let name = word.strip_prefix('@').unwrap_or_default();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c);
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(fits)
}

/// Whether the part before a line's number may be a label: not a time, a port or a file.
fn is_label(label: &str) -> bool {
    let begins = label.starts_with(char::is_alphabetic);
    begins && !label.contains(['.', '@', '^', '#', ':'])
}

fn is_hash(word: &str) -> bool {
    let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (7..=40).contains(&word.len())
        && word.bytes().all(hex)
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        names(text)
            .into_iter()
            .map(|(place, _)| &text[place])
            .collect()
    }

    #[test]
    fn names_stand_between_other_words() {
        assert_eq!(
            found("See TASK-001, (R002) and th_004#2; msg_12: ^a7f by @bob in goals_shop:7-9."),
            [
                "TASK-001",
                "R002",
                "th_004#2",
                "msg_12",
                "^a7f",
                "@bob",
                "goals_shop:7-9"
            ]
        );
        assert_eq!(found("4f2a91c rotates the keys"), ["4f2a91c"]);
        assert_eq!(found("目标:3 و هدف:4"), ["目标:3", "هدف:4"]);
    }

    #[test]
    fn what_only_looks_like_a_name_is_none() {
        for text in [
            "at 12:30",
            "R2D2",
            "TASK-",
            "a@b.example",
            "x^2",
            "1234567",
            "deadbeef",
            "th_1",
            "src/keys.rs:42",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn addresses_end_where_people_end_them() {
        assert_eq!(
            found("(see https://a.example/x?y=1)."),
            ["https://a.example/x?y=1"]
        );
        assert_eq!(found("http://a.example/b_(c)"), ["http://a.example/b_(c)"]);
        assert_eq!(found("https://"), [""; 0]);
        assert!(named("javascript:1").is_some_and(|name| matches!(name, Name::Lines(_))));
    }
}
