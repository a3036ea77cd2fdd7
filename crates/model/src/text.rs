//! Text as search, limits and terminals see it.
//!
//! What search stores (`fold`, `grams`, `words`) is derived data, but stored all the same: a change
//! in any of the three must come with a rebuild of core. Nothing here may read a query as anything
//! but text, and nothing may split a character.

use std::collections::HashSet;
use std::fmt;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::error::Fault;
use crate::limits;

/// A text with this many trigrams may have had more: the index then cannot rule it out. A line is
/// never one of them: folding at most doubles it.
pub const MAX_GRAMS: usize = 2 * limits::LINE_CHARS;

/// The text in lower case with a space for each control character, for case-blind substrings.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        let lower = text.to_ascii_lowercase();
        return match lower.contains(|c: char| c.is_ascii_control()) {
            true => lower.replace(|c: char| c.is_ascii_control(), " "),
            false => lower,
        };
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.push(' ');
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out
}

/// The codes of all runs of three characters: distinct, sorted, the lowest `MAX_GRAMS` of them.
///
/// A text contains another only if it has all of its codes, unless it has `MAX_GRAMS` of them and
/// some were cut off. The codes are stored, so they must stay what they are: FNV-1a (32 bits) of
/// the UTF-8 bytes, its top bit folded into its lowest so that they fit a positive `integer`.
pub fn grams(folded: &str) -> Vec<i32> {
    let bytes = folded.as_bytes();
    let mut codes: Vec<i32> = if folded.is_ascii() {
        bytes.windows(3).map(gram).collect()
    } else {
        let bounds = || folded.char_indices().map(|(at, _)| at);
        let ends = bounds().chain([folded.len()]).skip(3);
        let ranges = bounds().zip(ends);
        ranges.map(|(from, to)| gram(&bytes[from..to])).collect()
    };
    codes.sort_unstable();
    codes.dedup();
    codes.truncate(MAX_GRAMS);
    codes
}

fn gram(bytes: &[u8]) -> i32 {
    let hash = bytes.iter().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    ((hash & 0x7fff_ffff) ^ (hash >> 31)).cast_signed()
}

/// The words of a text in order: runs of letters, their marks and digits, in lower case.
pub fn words(text: &str) -> Vec<String> {
    tokens(text).map(|token| token.word).collect()
}

/// A text as the index of words takes it: its words alone, without accents, a space between two, so
/// that both databases index the same. Of a text longer than `limits::INDEXED_BYTES` each word counts
/// once, and only this many bytes of them: an index entry of PostgreSQL cannot hold much more.
pub fn searchable(text: &str) -> String {
    let long = text.len() > limits::INDEXED_BYTES;
    if !long && text.is_ascii() {
        return searchable_ascii(text);
    }
    let mut seen = HashSet::new();
    let mut out = String::with_capacity(text.len().min(limits::INDEXED_BYTES));
    for token in tokens(text) {
        let word = unaccented(&token.word);
        if long && seen.contains(&word) {
            continue;
        }
        if out.len() + word.len() >= 2 * limits::INDEXED_BYTES {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word);
        if long {
            seen.insert(word);
        }
    }
    out
}

/// [`searchable`] for most texts: the same words, found without looking at each character's properties.
fn searchable_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        let start = out.len();
        out.push_str(&word[..word.len().min(limits::WORD_CHARS)]);
        out[start..].make_ascii_lowercase();
    }
    out
}

/// A word without accents and other marks.
pub fn unaccented(word: &str) -> String {
    if word.is_ascii() {
        return word.to_string();
    }
    word.nfd().filter(|c| !is_combining_mark(*c)).collect()
}

/// The words worth searching for, each once.
pub fn query_words(text: &str) -> Vec<String> {
    let (mut telling, mut common) = (Vec::new(), Vec::new());
    for Token { word, .. } in tokens(text) {
        let list = if is_common(&word) {
            &mut common
        } else {
            &mut telling
        };
        if list.len() < limits::QUERY_WORDS && !list.contains(&word) {
            list.push(word);
        }
        if telling.len() == limits::QUERY_WORDS {
            break;
        }
    }
    if telling.is_empty() { common } else { telling }
}

/// English words so frequent that they tell texts apart no more than spaces do.
pub fn is_common(word: &str) -> bool {
    const COMMON: &[&str] = &[
        "a", "about", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "did",
        "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is",
        "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "she", "so", "than", "that",
        "the", "their", "them", "then", "there", "these", "they", "this", "to", "was", "we",
        "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you",
        "your",
    ];
    /// None is longer, and most words are.
    const LONGEST: usize = 5;
    word.len() <= LONGEST && COMMON.binary_search(&word).is_ok()
}

/// A word and where it stands, counted in characters.
struct Token {
    word: String,
    start: usize,
    end: usize,
}

fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let mut chars = text.chars().enumerate().peekable();
    std::iter::from_fn(move || {
        let (start, first) = chars.find(|(_, c)| c.is_alphanumeric())?;
        let mut token = Token {
            word: first.to_lowercase().collect(),
            start,
            end: start + 1,
        };
        // These scripts put no spaces between words, so each character is searched on its own.
        if is_unspaced(first) {
            return Some(token);
        }
        let mut length = token.word.chars().count();
        // A mark belongs to the letter before it.
        let goes_on = |c: char| (c.is_alphanumeric() || is_combining_mark(c)) && !is_unspaced(c);
        while let Some((at, c)) = chars.next_if(|(_, c)| goes_on(*c)) {
            for lower in c
                .to_lowercase()
                .take(limits::WORD_CHARS.saturating_sub(length))
            {
                token.word.push(lower);
                length += 1;
            }
            token.end = at + 1;
        }
        Some(token)
    })
}

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x3040..=0x30ff | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xf900..=0xfaff | 0xff66..=0xff9f | 0x20000..=0x3ffff)
}

/// An in_quotes of at most `width` characters around the place where most of the words meet.
///
/// Matches are marked **like this** and cuts with an ellipsis, both beyond the width; white space
/// is evened out, so that an in_quotes is one line.
pub fn snippet(text: &str, words: &[String], width: usize) -> String {
    let stems: Vec<(String, String)> = words.iter().map(|word| stem(word)).collect();
    let mut spans = Vec::new();
    let mut hits = Vec::new();
    for token in tokens(text) {
        spans.push((token.start, token.end));
        let meant = |(word, stem): &(String, String)| {
            token.word == *word || (!stem.is_empty() && token.word.starts_with(stem.as_str()))
        };
        if let Some(which) = stems.iter().position(meant) {
            hits.push(Hit {
                start: token.start,
                end: token.end,
                which,
            });
        }
    }
    let total = text.chars().count();
    let (from, to) = densest(&hits, words.len(), width);
    let (start, end) = window(&spans, (from, to), total, width);
    let mut out = String::new();
    if start > 0 {
        out.push('…');
    }
    mark(&mut out, text, &hits, start, end);
    if end < total {
        out.push('…');
    }
    out
}

struct Hit {
    start: usize,
    end: usize,
    which: usize,
}

/// Which of the words a text has, in whatever inflection; accents do not count.
pub fn borne(text: &str, words: &[String]) -> Vec<bool> {
    /// Letters that an inflection may add to a word.
    const ENDING: usize = 4;
    let stems: Vec<(String, String)> = words.iter().map(|word| stem(&unaccented(word))).collect();
    let mut borne = vec![false; words.len()];
    for token in tokens(text) {
        let there = unaccented(&token.word);
        let length = there.chars().count();
        for (is, (word, stem)) in borne.iter_mut().zip(&stems) {
            *is |= there == *word
                || (!stem.is_empty()
                    && there.starts_with(stem.as_str())
                    && length <= word.chars().count() + ENDING);
        }
    }
    borne
}

/// The word and the beginning that its inflections share; none for words too short to have any.
fn stem(word: &str) -> (String, String) {
    let word: String = word.chars().flat_map(char::to_lowercase).collect();
    let length = word.chars().count();
    let stem = match length {
        0..3 => String::new(),
        _ => word.chars().take(length.saturating_sub(3).max(3)).collect(),
    };
    (word, stem)
}

/// The first stretch of at most `width` characters with the most different words in it.
fn densest(hits: &[Hit], words: usize, width: usize) -> (usize, usize) {
    let Some(first) = hits.first() else {
        return (0, 0);
    };
    let mut best = (0, (first.start, first.end));
    let mut seen = vec![0_usize; words];
    let (mut distinct, mut right) = (0, 0);
    for (left, hit) in hits.iter().enumerate() {
        while right < hits.len() && hits[right].end <= hit.start.saturating_add(width) {
            distinct += usize::from(seen[hits[right].which] == 0);
            seen[hits[right].which] += 1;
            right += 1;
        }
        if distinct > best.0 && right > left {
            best = (distinct, (hit.start, hits[right - 1].end));
        }
        if right > left {
            seen[hit.which] -= 1;
            distinct -= usize::from(seen[hit.which] == 0);
        } else {
            // A word wider than the whole in_quotes: nothing to take out again.
            right = left + 1;
        }
    }
    best.1
}

/// Widens the stretch to the full width, then draws back from words that would be cut.
fn window(
    spans: &[(usize, usize)],
    (from, to): (usize, usize),
    total: usize,
    width: usize,
) -> (usize, usize) {
    let spare = width.saturating_sub(to - from);
    let mut start = from
        .saturating_sub(spare / 2)
        .min(total.saturating_sub(width));
    let mut end = start.saturating_add(width).min(total);
    let cut = |at: usize| {
        let next = spans.partition_point(|span| span.1 <= at);
        spans.get(next).copied().filter(|span| span.0 < at)
    };
    if let Some((_, word_end)) = cut(start).filter(|span| span.1 <= from) {
        start = word_end;
    }
    if let Some((word_start, _)) = cut(end).filter(|span| span.0 >= to && span.0 > start) {
        end = word_start;
    }
    (start, end)
}

fn mark(out: &mut String, text: &str, hits: &[Hit], start: usize, end: usize) {
    let mut next = hits.partition_point(|hit| hit.end <= start);
    let mut inside = false;
    let mut blank = true;
    for (at, c) in text.chars().enumerate().take(end).skip(start) {
        while hits.get(next).is_some_and(|hit| hit.end <= at) {
            next += 1;
        }
        // Neighbouring hits share one pair of marks.
        let hit = hits.get(next).is_some_and(|hit| hit.start <= at);
        if hit != inside {
            out.push_str("**");
            inside = hit;
        }
        if c.is_whitespace() || c.is_control() {
            if !blank {
                out.push(' ');
            }
            blank = true;
        } else {
            out.push(c);
            blank = false;
        }
    }
    if inside {
        out.push_str("**");
    }
    out.truncate(out.trim_end().len());
}

/// Refuses text that is too long, holds NUL (no database stores it), or says nothing where it must.
///
/// The field is only spelt out for a refusal, so a path may be given as `format_args!`.
pub fn check_text(
    field: impl fmt::Display,
    text: &str,
    max_chars: usize,
    allow_empty: bool,
) -> Result<(), Fault> {
    // Bytes are never fewer than characters, so short text is not counted at all.
    if text.len() > max_chars && text.chars().count() > max_chars {
        return Err(
            Fault::invalid(field, format!("is longer than {max_chars} characters"))
                .details(serde_json::json!({ "max_chars": max_chars })),
        );
    }
    if text.contains('\0') {
        return Err(Fault::invalid(field, "holds a NUL character"));
    }
    if !allow_empty && text.trim().is_empty() {
        return Err(Fault::invalid(field, "is empty"));
    }
    Ok(())
}

/// The text for a terminal: what could move its cursor, colour it or turn its direction, and what
/// nobody would see, is shown as an escape instead of obeyed or hidden.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut before = None;
    while let Some(c) = letters.next() {
        let kept = matches!(c, '\n' | '\t') || joins(before, c, letters.peek().copied());
        if is_unseen(c) && !kept {
            out.extend(c.escape_unicode())
        } else {
            out.push(c)
        }
        before = Some(c);
    }
    out
}

/// Whether a character is an order to whatever shows the text, or is not shown at all: people do
/// not see it, and terminals and models read it.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Soft hyphen, the direction of Arabic, fillers, vowel separators.
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}'
            // Zero width, directions, line and paragraph separators.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // Variation selectors, byte order mark, interlinear notes.
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            // Musical and shorthand controls, tags, more variation selectors.
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Scripts and emoji need some of what is not seen: one joiner between two letters that are not
/// ASCII, one choice of text or picture behind a sign.
fn joins(before: Option<char>, c: char, after: Option<char>) -> bool {
    let shown = |letter: Option<char>| letter.is_some_and(|letter| !is_unseen(letter));
    let selects = |letter: Option<char>| matches!(letter, Some('\u{fe0e}' | '\u{fe0f}'));
    let foreign = |letter: Option<char>| letter.is_some_and(|letter| !letter.is_ascii());
    match c {
        '\u{200c}' | '\u{200d}' => {
            (shown(before) && foreign(before) || selects(before)) && shown(after) && foreign(after)
        }
        '\u{fe0e}' | '\u{fe0f}' => shown(before),
        _ => false,
    }
}

/// A number of things: `1 record`, `2 records`.
pub fn plural(count: i64, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    }
}

/// The most characters of somebody's text that stand in a sentence of the server's.
pub const QUOTED: usize = 64;

/// Somebody's text, fit for a sentence of the server's: as it is if it is a plain word, else in
/// quotes, cut short, with control characters escaped, so that nobody takes it for a part of what
/// the sentence says. No message, hint, note or warning holds a stored or given text otherwise.
pub fn quoted(name: &str) -> String {
    // Some letters are not seen: they are escaped too, and never stand alone.
    let shown = |letter: char| letter.is_alphanumeric() && !is_unseen(letter);
    let plain = |letter: char| shown(letter) || "_-.^:/#@…".contains(letter);
    if !name.is_empty() && name.chars().count() <= QUOTED && name.chars().all(plain) {
        return name.to_owned();
    }
    in_quotes(name, QUOTED)
}

/// Somebody's text in quotes, whatever it is: at most this many characters of it, then an ellipsis.
pub fn in_quotes(text: &str, most: usize) -> String {
    let short: String = text.chars().take(most).collect();
    let quoted = if short.len() < text.len() {
        format!("{:?}", short + "…")
    } else {
        format!("{short:?}")
    };
    escaped(&quoted, is_unseen)
}

/// A text with some of its characters as escapes.
fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if hidden(letter) {
            out.extend(letter.escape_unicode())
        } else {
            out.push(letter)
        }
    }
    out
}

/// Some texts, each [`quoted`], with a word between them.
pub fn quoted_list<S: AsRef<str>>(names: &[S], between: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name.as_ref())).collect();
    names.join(between)
}

/// A text as part of an identifier: its letters, marks and digits, in lower case; what stands
/// between them becomes one hyphen. Scripts without spaces stay as they are written.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars() {
        if letter.is_alphanumeric() || (is_combining_mark(letter) && !slug.is_empty()) {
            slug.extend(letter.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_string()
}

/// A text on one line, shortened to this many characters; an ellipsis stands for the rest.
pub fn cut(text: &str, most: usize) -> String {
    let mut words = text.split_whitespace();
    let mut line = words.next().unwrap_or_default().to_string();
    for word in words {
        line.push(' ');
        line.push_str(word);
        // Bytes are at least as many as characters, so long texts end here early.
        if line.len() > most * 4 {
            break;
        }
    }
    if line.chars().count() > most {
        let kept: String = line.chars().take(most.saturating_sub(1)).collect();
        format!("{}…", kept.trim_end())
    } else {
        line
    }
}
