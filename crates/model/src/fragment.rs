//! Fragments: the pieces of a message that can be referred to one by one.
//!
//! The same text is cut at the same places forever: ids of fragments stand in other people's
//! texts. The pieces put together are the text, byte for byte. Nothing here understands a
//! language; sentences and clauses are told by punctuation, for every script that has some.

use crate::canon::sha256;
use crate::refs::is_fragment_id;

mod clause;
mod lines;
mod sentence;

/// Characters of the longest piece of prose; a block of code may be longer.
pub const MAX_CHARS: usize = 480;
/// Pieces of one text; beyond that, neighbours are joined.
pub const MAX_PIECES: usize = 1_000;
/// What a piece must weigh to stand alone beside others of its line: "Yes." does not.
const MIN_WEIGHT: usize = 6;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    pub id: String,
    pub content: String,
}

impl Fragment {
    pub fn new(content: &str) -> Fragment {
        Fragment {
            id: fragment_id(content),
            content: content.to_owned(),
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
/// whole, white space belongs to what it follows.
pub fn fragments(text: &str) -> Vec<Fragment> {
    let text = Text::new(text);
    let mut cuts = Vec::new();
    for block in lines::blocks(&text) {
        if block.code {
            cuts.push(block.end);
        } else {
            prose(&text, block.start, block.end, &mut cuts);
        }
    }
    thin(&mut cuts);
    text.pieces(&cuts)
}

/// Where the pieces of one paragraph end.
fn prose(text: &Text, start: usize, end: usize, cuts: &mut Vec<usize>) {
    let code = lines::code_spans(text, start, end);
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
    let group = cuts.len().div_ceil(MAX_PIECES);
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

    /// The first place at or after `at`, before `end`, that is no white space.
    fn after_space(&self, at: usize, end: usize) -> usize {
        let space = self.chars[at..end].iter().take_while(|c| c.is_whitespace());
        at + space.count()
    }

    fn pieces(&self, cuts: &[usize]) -> Vec<Fragment> {
        let mut from = 0;
        let mut pieces = Vec::with_capacity(cuts.len());
        for cut in cuts {
            let piece = &self.raw[self.bytes[from]..self.bytes[*cut]];
            if !piece.is_empty() {
                pieces.push(Fragment::new(piece));
            }
            from = *cut;
        }
        pieces
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

/// A place inside a message: one fragment, or a range of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    pub item: uuid::Uuid,
    pub first: String,
    pub last: Option<String>,
}

/// Reads `item_<uuid>#^a7f` or `item_<uuid>#^a7f:^b2e`; `None` when it is neither.
pub fn parse_anchor(text: &str) -> Option<Anchor> {
    let (item, range) = text.split_once('#')?;
    let item = uuid::Uuid::try_parse(item.strip_prefix("item_")?).ok()?;
    let (first, last) = match range.split_once(':') {
        Some((first, last)) => (first, Some(last)),
        None => (range, None),
    };
    (is_fragment_id(first) && last.is_none_or(is_fragment_id)).then(|| Anchor {
        item,
        first: first.to_owned(),
        last: last.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests;
