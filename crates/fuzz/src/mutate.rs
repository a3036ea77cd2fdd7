//! Makes other inputs of inputs: bytes changed, parts repeated, two spliced, words put in.
//!
//! It knows nothing of any format; what is made of JSON with knowledge of JSON is in `json`.

use crate::chance::Chance;

/// Words that readers of text have stumbled over, here and elsewhere.
pub const ODD: [&str; 44] = [
    "\0",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "\u{fffd}",
    "\u{10ffff}",
    "\u{e0041}",
    "e\u{301}",
    "\u{1f469}\u{200d}\u{1f4bb}",
    "\r\n",
    "\n",
    "\n\n",
    "\t",
    " ",
    "\u{a0}",
    "\u{2028}",
    "\"",
    "'",
    "\\",
    "\\u0000",
    "\\ud800",
    "%00",
    "%",
    "../",
    "..",
    "--",
    "/*",
    "';--",
    "{}",
    "[]",
    "null",
    "true",
    "-0",
    "-1",
    "0",
    "1e999",
    "1e-7",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "-9223372036854775808",
    "\u{661}\u{662}",
    "\u{df}\u{130}\u{131}",
];

/// The longest input that is made by growing one.
const LONGEST: usize = 16 << 10;

/// A few changes to an input. `words` are those of the format, `others` inputs to splice with.
pub fn mutate(chance: &mut Chance, input: &mut Vec<u8>, words: &[&str], others: &[Vec<u8>]) {
    for _ in 0..=chance.few(6) {
        once(chance, input, words, others);
    }
    input.truncate(LONGEST);
}

fn once(chance: &mut Chance, input: &mut Vec<u8>, words: &[&str], others: &[Vec<u8>]) {
    let length = input.len();
    let at = chance.below(length + 1);
    let stretch = |chance: &mut Chance, from: usize| {
        let most = (length - from).min(64);
        from..from + chance.between(most.min(1), most)
    };
    match chance.below(12) {
        0 if at < length => input[at] ^= 1 << chance.below(8),
        1 if at < length => input[at] = chance.byte(),
        2 => input.insert(at, chance.byte()),
        3 if at < length => drop(input.drain(stretch(chance, at))),
        4 if at < length => {
            let part = input[stretch(chance, at)].to_vec();
            let to = chance.below(length + 1);
            for _ in 0..=chance.few(5) {
                insert(input, to, &part);
            }
        }
        5 => {
            let word = chance.pick(&ODD).as_bytes();
            insert(input, at, word);
        }
        6 | 7 if !words.is_empty() => {
            let word = chance.pick(words).as_bytes();
            insert(input, at, word);
        }
        8 if !others.is_empty() => {
            let other = chance.pick(others);
            let from = chance.below(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        9 if !others.is_empty() => {
            let other = chance.pick(others);
            let from = chance.below(other.len() + 1);
            let to = from + chance.below((other.len() - from).min(256) + 1);
            insert(input, at, &other[from..to]);
        }
        10 => input.truncate(at),
        11 if at < length => {
            let part = stretch(chance, at);
            let other = chance.below(length - part.len() + 1);
            let moved: Vec<u8> = input.drain(part).collect();
            insert(input, other, &moved);
        }
        _ => {
            let digits = number(chance);
            insert(input, at, digits.as_bytes());
        }
    }
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if input.len() + bytes.len() <= LONGEST {
        let at = at.min(input.len());
        input.splice(at..at, bytes.iter().copied());
    }
}

/// A number that is often at an edge.
pub fn number(chance: &mut Chance) -> String {
    match chance.below(6) {
        0 => chance.pick(&["0", "-1", "1", "2", "3"]).to_string(),
        1 => i64::MAX.to_string(),
        2 => (1_u64 << chance.below(64)).to_string(),
        3 => format!("-{}", 1_u64 << chance.below(63)),
        4 => chance.below(300).to_string(),
        _ => chance.draw().cast_signed().to_string(),
    }
}

/// A text: a few words of the format, odd ones and plain ones.
pub fn text(chance: &mut Chance, words: &[&str]) -> String {
    const PLAIN: [&str; 12] = [
        "a",
        "The clock drifts",
        "leap",
        "note",
        "x1",
        "Z",
        "café",
        "日本語。",
        "done",
        "why?",
        "a, b",
        "1",
    ];
    let mut text = String::new();
    for _ in 0..chance.few(8) {
        match chance.below(4) {
            0 => text.push_str(chance.pick::<&str>(&ODD)),
            1 if !words.is_empty() => text.push_str(chance.pick::<&str>(words)),
            2 => text.push_str(&chance.pick(&PLAIN).repeat(1 + chance.few(6))),
            _ => text.push_str(chance.pick::<&str>(&PLAIN)),
        }
        if chance.one_in(2) {
            text.push(*chance.pick(&[' ', '\n', ':', ',']));
        }
    }
    text
}
