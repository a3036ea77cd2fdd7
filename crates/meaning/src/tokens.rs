//! The model's own way to cut a text: lower case, no accents, words cut into known pieces.
//!
//! It agrees with the tokenizer that the model was made with (`tests/tokens.rs`), except that marks
//! of Indic scripts which stand beside their letter are dropped here too.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::table::WORDS;
use crate::unicode::{is_ideograph, is_punctuation, is_unseen};

/// What no piece is known of.
pub const UNKNOWN: u16 = 100;
/// Characters of a word; a longer one is unknown.
const WORD_LENGTH: usize = 100;

/// The pieces that begin a word and those that go on with one.
struct Pieces {
    first: Known,
    next: Known,
    /// Bytes of the longest.
    longest: usize,
}

type Known = HashMap<&'static str, u16, BuildHasherDefault<Fnv>>;

/// FNV-1a. The table is ours, so nobody can choose what collides.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

static PIECES: LazyLock<Pieces> = LazyLock::new(|| {
    let (mut first, mut next) = (Known::default(), Known::default());
    first.reserve(25_000);
    next.reserve(6_000);
    for (token, word) in (0..).zip(WORDS.lines()) {
        match word.strip_prefix("##").filter(|piece| !piece.is_empty()) {
            Some(piece) => next.insert(piece, token),
            None => first.insert(word, token),
        };
    }
    let longest = WORDS.lines().map(str::len).max().unwrap_or(0);
    Pieces {
        first,
        next,
        longest,
    }
});

/// The tokens of a text, at most this many.
pub fn tokens(text: &str, most: usize) -> Vec<u16> {
    let mut found = Vec::new();
    each_word(text, |word| {
        cut(word, &mut found);
        found.len() < most
    });
    found.truncate(most);
    found
}

/// Calls for every word and every punctuation mark, until told to stop.
pub fn each_word(text: &str, mut found: impl FnMut(&str) -> bool) {
    let mut word = String::new();
    let end = |word: &mut String, found: &mut dyn FnMut(&str) -> bool| {
        let go_on = word.is_empty() || found(word);
        word.clear();
        go_on
    };
    let plain = |c: &char| !is_unseen(*c);
    for c in text.chars().filter(plain) {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if c.is_whitespace() {
            if !end(&mut word, &mut found) {
                return;
            }
        } else if is_ideograph(c) || is_punctuation(c) {
            let mut alone = String::from(c);
            if !end(&mut word, &mut found) || !end(&mut alone, &mut found) {
                return;
            }
        } else {
            let bare = std::iter::once(c).nfd().filter(|c| !is_combining_mark(*c));
            word.extend(bare.flat_map(char::to_lowercase));
        }
    }
    end(&mut word, &mut found);
}

/// Cuts a word into the longest pieces known, from its beginning on.
pub fn cut(word: &str, into: &mut Vec<u16>) {
    let before = into.len();
    if word.len() > WORD_LENGTH && word.chars().count() > WORD_LENGTH {
        into.push(UNKNOWN);
        return;
    }
    let pieces = &*PIECES;
    let mut rest = word;
    while !rest.is_empty() {
        let known = if into.len() == before {
            &pieces.first
        } else {
            &pieces.next
        };
        let ends = (1..=rest.len().min(pieces.longest)).rev();
        let found = ends
            .filter_map(|end| rest.split_at_checked(end))
            .find_map(|(piece, after)| Some((*known.get(piece)?, after)));
        let Some((token, after)) = found else {
            into.truncate(before);
            into.push(UNKNOWN);
            return;
        };
        into.push(token);
        rest = after;
    }
}
