//! Where clauses end within a sentence, and where a run that has no clause is cut.

use unicode_normalization::char::is_combining_mark;

use super::Text;
use crate::limits::FRAGMENT_CHARS;

/// What a clause weighs at least. A list of short words stays below it.
const CLAUSE: usize = 16;
/// What is left after a word such as "but" may be a little less.
const REST: usize = 12;
/// A sentence from here on is cut at any comma with enough on both sides.
const LONG: usize = 180;

/// Words that open a clause of their own after a comma.
const OPENS: &[&str] = &[
    "although",
    "because",
    "but",
    "however",
    "nor",
    "otherwise",
    "since",
    "so",
    "then",
    "therefore",
    "though",
    "unless",
    "whereas",
    "which",
    "while",
    "yet",
    "aber",
    "da",
    "damit",
    "dass",
    "denn",
    "doch",
    "falls",
    "jedoch",
    "obwohl",
    "sodass",
    "sondern",
    "sonst",
    "während",
    "weil",
    "wenn",
    "car",
    "donc",
    "mais",
    "parce",
    "puisque",
    "tandis",
    "aunque",
    "pero",
    "porque",
    "pues",
    "sino",
    "embora",
    "mas",
    "pois",
    "però",
    "perché",
    "quindi",
    "maar",
    "omdat",
    "want",
    "ale",
    "lecz",
    "ponieważ",
    "а",
    "если",
    "зато",
    "когда",
    "который",
    "которая",
    "которое",
    "которые",
    "но",
    "однако",
    "поэтому",
    "потому",
    "так",
    "хотя",
    "что",
    "чтобы",
    "لكن",
    "ولكن",
    "لأن",
    "लेकिन",
    "क्योंकि",
];
/// Words that join clauses and the last of a list alike: both sides must be clauses.
const JOINS: &[&str] = &[
    "and", "or", "und", "oder", "et", "ou", "y", "e", "o", "en", "of", "i", "и", "или",
];

#[derive(Clone, Copy, PartialEq)]
enum Sign {
    /// `;` and its kin, and dashes: always between clauses.
    Strong,
    /// A comma of Latin and most other scripts, which a space follows.
    Comma,
    /// A comma of a script without spaces, or without such little words.
    Plain,
}

struct Break {
    sign: Sign,
    /// Past the sign and the white space that follows it.
    at: usize,
}

/// Adds the ends of all clauses but the last from `start` to `end`.
pub(super) fn ends(
    text: &Text,
    start: usize,
    end: usize,
    code: &[(usize, usize)],
    ends: &mut Vec<usize>,
) {
    let breaks = breaks(text, start, end, code);
    let mut from = start;
    let mut before = start;
    for (index, found) in breaks.iter().enumerate() {
        let next = breaks.get(index + 1).map_or(end, |next| next.at);
        let sides = Sides {
            left: text.weight(from, found.at),
            since: text.weight(before, found.at),
            next: text.weight(found.at, next),
            rest: text.weight(found.at, end),
        };
        before = found.at;
        if divides(text, found, end, &sides) {
            ends.push(found.at);
            from = found.at;
        }
    }
}

/// What stands around a comma: since the last cut, since the last comma, to the next, to the end.
struct Sides {
    left: usize,
    since: usize,
    next: usize,
    rest: usize,
}

fn divides(text: &Text, found: &Break, end: usize, sides: &Sides) -> bool {
    let both = sides.since >= CLAUSE && sides.next >= CLAUSE;
    if found.sign == Sign::Strong {
        return sides.left >= CLAUSE && sides.rest >= CLAUSE;
    }
    let word = word(text, found.at, end);
    if OPENS.contains(&word.as_str()) {
        return sides.left >= CLAUSE && sides.rest >= REST;
    }
    both && (found.sign == Sign::Plain || sides.left >= LONG || JOINS.contains(&word.as_str()))
}

fn breaks(text: &Text, start: usize, end: usize, code: &[(usize, usize)]) -> Vec<Break> {
    let mut breaks = Vec::new();
    let first = code.partition_point(|span| span.1 <= start);
    let mut spans = code[first..].iter().peekable();
    let mut at = start;
    while at < end {
        if let Some((_, past)) = spans.next_if(|span| span.0 <= at) {
            at = at.max(*past);
            continue;
        }
        let sign = text.at(at).and_then(sign);
        at += 1;
        let Some((sign, spaced)) = sign else {
            continue;
        };
        let next = text.after_space(at, end);
        if next < end && (next > at || !spaced) {
            breaks.push(Break { sign, at: next });
            at = next;
        }
    }
    breaks
}

/// What a sign divides, and whether it does only where a space follows.
fn sign(c: char) -> Option<(Sign, bool)> {
    match c {
        ';' | '—' | '–' => Some((Sign::Strong, true)),
        '；' | '؛' | '⸺' => Some((Sign::Strong, false)),
        ',' => Some((Sign::Comma, true)),
        '，' | '、' | '､' | '،' | '፣' | '၊' => Some((Sign::Plain, false)),
        _ => None,
    }
}

/// The word at `at`, in small letters; nothing that long is looked for.
fn word(text: &Text, at: usize, end: usize) -> String {
    text.chars[at..end.min(at + 16)]
        .iter()
        .take_while(|c| c.is_alphanumeric() || is_combining_mark(**c))
        .flat_map(|c| c.to_lowercase())
        .collect()
}

/// Adds cuts to a piece that is still too long: at its last space that fits, or where none is,
/// between two characters that do not belong together.
pub(super) fn shorten(
    text: &Text,
    start: usize,
    end: usize,
    code: &[(usize, usize)],
    cuts: &mut Vec<usize>,
) {
    let mut from = start;
    while end - from > FRAGMENT_CHARS {
        let limit = from + FRAGMENT_CHARS;
        let half = from + FRAGMENT_CHARS / 2;
        let free = |at: &usize| text.chars[*at - 1].is_whitespace() && !is_within(code, *at);
        let spaced = (half..=limit).rev().find(free);
        let at = spaced.unwrap_or_else(|| between(text, half, limit));
        let at = text.after_space(at, end);
        if at >= end {
            break;
        }
        cuts.push(at);
        from = at;
    }
}

fn is_within(spans: &[(usize, usize)], at: usize) -> bool {
    let index = spans.partition_point(|span| span.1 <= at);
    spans.get(index).is_some_and(|span| span.0 < at)
}

/// The last place up to `limit` that does not part a character from its marks.
fn between(text: &Text, half: usize, limit: usize) -> usize {
    let parts = |at: &usize| {
        let joins =
            |c: char| matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}');
        let next = text.chars[*at];
        !is_combining_mark(next) && !joins(next) && text.chars[*at - 1] != '\u{200d}'
    };
    (half + 1..=limit).rev().find(parts).unwrap_or(limit)
}
