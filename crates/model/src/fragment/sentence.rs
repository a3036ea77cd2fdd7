//! Where sentences end, told by their signs alone.

use super::Text;

/// How far back the word before a period is looked for.
const WORD_LENGTH: usize = 16;

/// Shortened words whose period ends no sentence.
const SHORT: &[&str] = &[
    "abb", "abs", "al", "appt", "approx", "art", "asst", "bzgl", "bzw", "ca", "capt", "cf", "ch",
    "col", "cpt", "dept", "dr", "ed", "eds", "eq", "est", "evtl", "exx", "fig", "figs", "gen",
    "ggf", "gov", "hr", "incl", "inkl", "lt", "max", "messrs", "min", "mlle", "mme", "mr", "mrs",
    "ms", "mt", "mio", "mrd", "nr", "no", "nos", "op", "pp", "prof", "ref", "rep", "resp", "rev",
    "sec", "sen", "sgt", "sr", "sra", "srta", "st", "str", "usw", "vgl", "viz", "vol", "vols",
    "vs", "zb", "г", "гг", "др", "им", "рис", "см", "стр", "т",
];
/// Shortened words that may end a sentence as well: the next word tells.
const EITHER: &[&str] = &["co", "corp", "etc", "inc", "jr", "ltd", "no", "usw"];

/// The ends of the sentences from `start` to `end`, each past the white space that follows; the
/// last is `end`.
pub(super) fn ends(text: &Text, start: usize, end: usize, code: &[(usize, usize)]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut spans = code.iter().peekable();
    let first = text.after_space(start, end);
    let mut at = start;
    while at < end {
        if let Some((_, past)) = spans.next_if(|span| span.0 <= at) {
            at = at.max(*past);
            continue;
        }
        let Some(sign) = text.at(at).filter(|c| is_end(*c)) else {
            at += 1;
            continue;
        };
        let signs = at;
        while at < end && text.at(at).is_some_and(is_end) {
            at += 1;
        }
        let past = at;
        while at < end && text.at(at).is_some_and(is_closing) {
            at += 1;
        }
        let next = text.after_space(at, end);
        if next < end && cuts(text, first, (signs, past, at, next), sign) {
            ends.push(next);
            at = next;
        }
    }
    ends.push(end);
    ends
}

/// Whether a sentence ends with the signs from `signs` to `past`, closing marks to `closed`, in a
/// paragraph whose first word is at `first`.
fn cuts(
    text: &Text,
    first: usize,
    (signs, past, closed, next): (usize, usize, usize, usize),
    sign: char,
) -> bool {
    if text.chars[signs..past].iter().any(|c| is_strong(*c)) {
        return true;
    }
    // A point, question or exclamation mark inside a word, number or address.
    if next == closed {
        return false;
    }
    let small = text.at(next).is_some_and(char::is_lowercase);
    let trailing_off = sign == '…' || past - signs > 1 && text.at(signs + 1) == Some('.');
    if trailing_off {
        return !small;
    }
    sign != '.' || past - signs > 1 || !is_short(text, first, signs, small)
}

/// Whether the word before a period is a shortened one, an initial, or the number of a list item.
fn is_short(text: &Text, first: usize, dot: usize, small: bool) -> bool {
    let floor = dot.saturating_sub(WORD_LENGTH).max(first);
    let length = text.chars[floor..dot]
        .iter()
        .rev()
        .take_while(|c| c.is_alphanumeric() || **c == '.')
        .count();
    let word: String = text.chars[dot - length..dot].iter().collect();
    if word.is_empty() {
        return false;
    }
    let first = first == dot - length;
    if word.chars().all(char::is_numeric) {
        return first;
    }
    let mut letters = word.chars();
    if letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none() {
        // "J. Smith", "a. item"; but "so do I." and "plan B." end.
        return first || small || word.chars().all(char::is_uppercase) && word != "I";
    }
    if let Some((_, tail)) = word.rsplit_once('.') {
        // "e.g.", "U.S.", "z.B.": the parts are single letters.
        return tail.chars().count() == 1 && tail.chars().all(char::is_alphabetic);
    }
    let lower = word.to_lowercase();
    if EITHER.contains(&lower.as_str()) {
        let number = lower == "no" && next_is_digit(text, dot);
        return small && lower != "no" || number;
    }
    SHORT.contains(&lower.as_str())
}

fn next_is_digit(text: &Text, dot: usize) -> bool {
    text.at(text.after_space(dot + 1, text.len()))
        .is_some_and(char::is_numeric)
}

fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '‼' | '⁇' | '⁈' | '⁉' | '‽') || is_strong(c)
}

/// Signs that end a sentence whether or not a space follows: those of scripts that need none.
fn is_strong(c: char) -> bool {
    matches!(
        c,
        '。' | '！'
            | '？'
            | '｡'
            | '．'
            | '؟'
            | '۔'
            | '।'
            | '॥'
            | '။'
            | '።'
            | '፧'
            | '፨'
            | '։'
            | '។'
            | '៕'
            | '᠃'
            | '᙮'
            | '꓿'
            | '෴'
    )
}

/// Quotation marks, brackets and emphasis that close after a sentence.
fn is_closing(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '”'
            | '’'
            | '»'
            | '›'
            | ')'
            | ']'
            | '}'
            | '）'
            | '】'
            | '」'
            | '』'
            | '》'
            | '〉'
            | '〕'
            | '］'
            | '｣'
            | '*'
            | '_'
    )
}
