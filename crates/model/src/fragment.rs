//! Fragments: the pieces of a message that can be referred to one by one.
//!
//! The same text is cut at the same places forever: ids of fragments stand in other people's
//! texts. So the first way of cutting is kept beside the present one, for what was written then.
//! A piece is trimmed and knows its place in the text, so that one sentence has one id wherever it
//! stands. Nothing here understands a language; sentences and clauses are told by punctuation, for
//! every script that has some.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::canon::sha256;
use crate::limits;

mod anchor;
mod clause;
mod lines;
mod quote;
mod sentence;

pub use anchor::{Anchor, PartName, is_message, parse_anchor};

/// What a piece must weigh to stand alone beside others of its line: "Yes." does not.
const MIN_WEIGHT: usize = 6;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fragment {
    pub id: String,
    pub content: String,
    /// Where it stands in its text, in characters: the first, and one past the last. Omitted for
    /// a fragment that is not part of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(usize, usize)>,
}

impl Fragment {
    pub fn new(content: &str) -> Fragment {
        Fragment {
            id: fragment_id(content),
            content: content.to_owned(),
            span: None,
        }
    }
}

/// How a text is cut. What was written under an earlier way keeps it: its ids were cited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cut {
    /// White space belongs to the piece it follows, so the pieces put together are the text.
    Joined,
    /// Pieces are trimmed, and no quotation is cut in two.
    #[default]
    Trimmed,
}

impl Cut {
    /// The number by which an item says how its text was cut; 0 stands for none said.
    pub fn of_number(number: i64) -> Cut {
        match number {
            0 | 1 => Cut::Joined,
            _ => Cut::Trimmed,
        }
    }

    pub fn number(self) -> i64 {
        match self {
            Cut::Joined => 1,
            Cut::Trimmed => 2,
        }
    }
}

/// `^` and the first 16 bits of the content's SHA-256 in base 36, three digits at least.
pub fn fragment_id(content: &str) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let hash = sha256(content.as_bytes());
    let mut rest = usize::from(u16::from_be_bytes([hash[0], hash[1]]));
    let mut digits = Vec::with_capacity(4);
    while rest > 0 || digits.len() < 3 {
        digits.push(char::from(DIGITS[rest % 36]));
        rest /= 36;
    }
    digits.push('^');
    digits.iter().rev().collect()
}

/// Cuts a text at sentences and clauses, lines, list items and headings. A block of code stays
/// whole, and so does a quotation.
pub fn fragments(text: &str) -> Vec<Fragment> {
    cut(text, Cut::Trimmed)
}

/// As [`fragments`], in the way that a text was cut when it was written.
pub fn cut(text: &str, how: Cut) -> Vec<Fragment> {
    let text = Text::new(text);
    let mut cuts = Vec::new();
    for block in lines::blocks(&text) {
        if block.code {
            cuts.push(block.end);
        } else {
            prose(&text, (block.start, block.end), how, &mut cuts);
        }
    }
    thin(&mut cuts);
    text.pieces(&cuts, how)
}

/// Where the pieces of one paragraph end.
fn prose(text: &Text, (start, end): (usize, usize), how: Cut, cuts: &mut Vec<usize>) {
    let mut code = lines::code_spans(text, start, end);
    if how == Cut::Trimmed {
        code = quote::with_quotations(text, (start, end), code);
    }
    let mut ends = Vec::new();
    let mut from = start;
    for stop in sentence::ends(text, start, end, &code) {
        clause::ends(text, from, stop, &code, &mut ends);
        ends.push(stop);
        from = stop;
    }
    let mut from = start;
    for stop in join_small(text, start, ends) {
        clause::shorten(text, from, stop, &code, cuts);
        cuts.push(stop);
        from = stop;
    }
}

/// A piece too small to mean anything goes with the next of its paragraph, the last with the one
/// before it.
fn join_small(text: &Text, start: usize, ends: Vec<usize>) -> Vec<usize> {
    let mut kept = Vec::with_capacity(ends.len());
    let mut from = start;
    let last = ends.last().copied();
    for end in ends {
        if text.weight(from, end) >= MIN_WEIGHT {
            kept.push(end);
            from = end;
        } else if Some(end) == last {
            kept.pop();
            kept.push(end);
        }
    }
    kept
}

/// Keeps the number of pieces bounded by joining neighbours, equally many each.
fn thin(cuts: &mut Vec<usize>) {
    let group = cuts.len().div_ceil(limits::FRAGMENTS);
    if group < 2 {
        return;
    }
    let last = cuts.len() - 1;
    let mut at = 0;
    cuts.retain(|_| {
        at += 1;
        at % group == 0 || at == last + 1
    });
}

/// A text by characters, with their places in bytes and the weight of all before each.
struct Text<'a> {
    raw: &'a str,
    chars: Vec<char>,
    bytes: Vec<usize>,
    weights: Vec<usize>,
}

impl<'a> Text<'a> {
    fn new(raw: &'a str) -> Text<'a> {
        let count = raw.chars().count();
        let mut text = Text {
            raw,
            chars: Vec::with_capacity(count),
            bytes: Vec::with_capacity(count + 1),
            weights: Vec::with_capacity(count + 1),
        };
        let mut sum = 0;
        for (at, c) in raw.char_indices() {
            text.chars.push(c);
            text.bytes.push(at);
            text.weights.push(sum);
            sum += weight(c);
        }
        text.bytes.push(raw.len());
        text.weights.push(sum);
        text
    }

    fn len(&self) -> usize {
        self.chars.len()
    }

    fn at(&self, at: usize) -> Option<char> {
        self.chars.get(at).copied()
    }

    fn weight(&self, from: usize, to: usize) -> usize {
        self.weights[to].saturating_sub(self.weights[from])
    }

    /// The first place at or after `at`, before `end`, that is not white space.
    fn after_space(&self, at: usize, end: usize) -> usize {
        let space = self.chars[at..end].iter().take_while(|c| c.is_whitespace());
        at + space.count()
    }

    fn pieces(&self, cuts: &[usize], how: Cut) -> Vec<Fragment> {
        let mut from = 0;
        let mut pieces = Vec::with_capacity(cuts.len());
        for cut in cuts {
            let (start, end) = match how {
                Cut::Joined => (from, *cut),
                Cut::Trimmed => self.trimmed(from, *cut),
            };
            let piece = &self.raw[self.bytes[start]..self.bytes[end]];
            if !piece.is_empty() {
                pieces.push(Fragment {
                    span: Some((start, end)),
                    ..Fragment::new(piece)
                });
            }
            from = *cut;
        }
        pieces
    }

    /// A stretch without the white space at its ends.
    fn trimmed(&self, from: usize, to: usize) -> (usize, usize) {
        let start = self.after_space(from, to);
        let tail = self.chars[start..to].iter().rev();
        let space = tail.take_while(|c| c.is_whitespace()).count();
        (start, to - space)
    }
}

/// How much a character says: an ideograph about as much as three letters, a space nothing.
fn weight(c: char) -> usize {
    match c {
        c if c.is_whitespace() => 0,
        '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => 3,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
