//! What each key does to a line: bytes and escape sequences as the keys that they stand for.
//!
//! Terminals have three ways to send a key: a byte, an old escape sequence, and the two newer
//! encodings (`CSI … u` and `CSI 27 ; … ~`) that programs can ask for.

/// What a key does to the line that is being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Nothing: a report of the terminal, the mouse, a key that was released.
    Nothing,
    Character(char),
    Submit,
    /// Ctrl-C: drops the whole line, in every program that has one.
    Abort,
    /// Ctrl-U: drops what is before the cursor, in this line of several.
    ClearLine,
    Delete,
    /// Moves the cursor, so that counting characters no longer tells what deleting deletes.
    Move,
    /// A line break inside the text.
    NewLine,
    /// Tab: may have added something at the end.
    Complete,
    /// It may have changed the line in any way.
    Doubtful,
}

const CONTROL: u32 = 4;
/// Shift, Caps Lock and Num Lock change which character a key types, not that it types one.
const TYPES: u32 = 1 | 64 | 128;

/// A byte outside of any sequence.
pub fn plain(byte: u8) -> Key {
    match byte {
        b'\r' => Key::Submit,
        b'\n' => Key::NewLine,
        0x03 => Key::Abort,
        0x15 => Key::ClearLine,
        0x08 | 0x7f => Key::Delete,
        // Ctrl with A, B, D, E, F, K, L, O, Q, S, T, Z and \: they move, delete, redraw or show.
        0x01 | 0x02 | 0x04..=0x06 | 0x0b | 0x0c | 0x0f | 0x11 | 0x13 | 0x14 | 0x1a | 0x1c => {
            Key::Move
        }
        b'\t' => Key::Complete,
        // Ctrl-Y and Ctrl-P insert, Ctrl-R searches, Ctrl-W deletes a word …
        0x00..=0x1f => Key::Doubtful,
        0x20..=0x7e => Key::Character(char::from(byte)),
        // The first byte of a longer character. Which one does not matter.
        0x80..=0xff => Key::Character(char::REPLACEMENT_CHARACTER),
    }
}

/// The byte after `ESC O`.
pub fn single(byte: u8) -> Key {
    match byte {
        b'M' => Key::Submit,
        // The keypad in application mode.
        b'j'..=b'y' | b'X' => Key::Character(char::from(byte)),
        b'A'..=b'D' | b'F' | b'H' | b'P'..=b'S' => Key::Move,
        _ => Key::Doubtful,
    }
}

/// What stands between `ESC [` and its last byte, and that byte.
pub fn sequence(parameters: &[u8], last: u8) -> Key {
    match last {
        // Answers of the terminal are marked as its own.
        _ if parameters
            .first()
            .is_some_and(|first| b"?><=".contains(first)) =>
        {
            Key::Nothing
        }
        b'u' => coded(parameters),
        b'~' => tilde(parameters),
        b'A'..=b'H' | b'P' | b'Q' | b'S' | b'Z' => Key::Move,
        // The position of the cursor, the focus, sizes, the mouse.
        b'R' | b'I' | b'O' | b't' | b'n' | b'c' | b'M' | b'm' | b'y' | b'x' => Key::Nothing,
        _ => Key::Doubtful,
    }
}

/// The numbers of a sequence: each parameter with its parts after a colon.
fn numbers(parameters: &[u8]) -> Vec<Vec<u32>> {
    let text = String::from_utf8_lossy(parameters);
    let part = |part: &str| part.parse().unwrap_or(0);
    let parts = |parameter: &str| parameter.split(':').map(part).collect();
    text.split(';').map(parts).collect()
}

fn at(numbers: &[Vec<u32>], parameter: usize, part: usize) -> u32 {
    let parts = numbers.get(parameter);
    parts
        .and_then(|parts| parts.get(part))
        .copied()
        .unwrap_or(0)
}

/// `CSI code : … ; modifiers : event ; text u`.
fn coded(parameters: &[u8]) -> Key {
    let numbers = numbers(parameters);
    let released = at(&numbers, 1, 1) == 3;
    if released {
        Key::Nothing
    } else {
        modified(at(&numbers, 0, 0), at(&numbers, 1, 0))
    }
}

fn tilde(parameters: &[u8]) -> Key {
    let numbers = numbers(parameters);
    match at(&numbers, 0, 0) {
        27 => modified(at(&numbers, 2, 0), at(&numbers, 1, 0)),
        // The end of a paste that never began.
        201 => Key::Nothing,
        _ => Key::Move,
    }
}

/// A key by its code and its modifiers, which are sent as their sum and one.
fn modified(code: u32, modifiers: u32) -> Key {
    let modifiers = modifiers.saturating_sub(1);
    let types = modifiers & !TYPES == 0;
    let plainly = modifiers & !(TYPES & !1) == 0;
    match code {
        13 | 57414 if plainly => Key::Submit,
        13 | 57414 => Key::NewLine,
        127 | 8 if plainly => Key::Delete,
        9 if plainly => Key::Complete,
        27 => Key::Move,
        // Digits and signs of the keypad; the other keys without a character.
        57399..=57416 if types => Key::Character('0'),
        57344..=63743 => Key::Move,
        32.. if types => char::from_u32(code).map_or(Key::Doubtful, Key::Character),
        64..=127 if modifiers & !(TYPES | CONTROL) == 0 => {
            plain(u8::try_from(code & 0x1f).unwrap_or_default())
        }
        _ => Key::Doubtful,
    }
}
