//! What a person has typed and not yet submitted, known from the bytes that they sent.
//!
//! Nothing here looks at the screen or the clock: bytes and times come in, and the answer is whether
//! a half-typed line exists. Where bytes allow two readings, the answer is that one does.

use std::time::{Duration, Instant};

mod keys;

use self::keys::Key;

/// An escape sequence arrives at once. After this pause, an Escape is the key of that name, and what
/// follows was typed.
const ONE_KEY: Duration = Duration::from_millis(250);

/// The longest sequence worth reading: parameters beyond it mean nothing that concerns us.
const PARAMETERS: usize = 64;

/// Where in the stream of bytes the next one stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Ground,
    Escape,
    /// After `ESC O`: one more byte names the key.
    Single,
    /// After `ESC [`: parameters, then a final byte.
    Control,
    /// An old mouse report has three bytes after its `ESC [ M`.
    Mouse(u8),
    /// A string from the terminal, such as the answer to a query, until `ESC \` or BEL.
    Text,
    TextEscape,
    /// Inside a bracketed paste; the number says how much of its end has been seen.
    Paste(usize),
}

const PASTE_END: &[u8] = b"\x1b[201~";

/// The line that a person is typing, as far as their bytes tell.
#[derive(Debug, Clone)]
pub struct Typing {
    place: Place,
    parameters: Vec<u8>,
    /// Characters that were typed and not deleted.
    characters: usize,
    /// The number above may be wrong: only submitting or clearing makes the line empty.
    unsure: bool,
    /// The cursor may not be at the end of the line, so that Ctrl-U may leave something.
    moved: bool,
    /// The last key was a backslash, after which Return may continue the line.
    backslash: bool,
    /// The line has more than one line, of which Ctrl-U deletes one.
    several_lines: bool,
    pasted: bool,
    last_byte: Option<Instant>,
    last_key: Option<Instant>,
}

impl Default for Typing {
    fn default() -> Typing {
        Typing {
            place: Place::Ground,
            parameters: Vec::new(),
            characters: 0,
            unsure: false,
            moved: false,
            backslash: false,
            several_lines: false,
            pasted: false,
            last_byte: None,
            last_key: None,
        }
    }
}

impl Typing {
    /// Takes bytes from the person's terminal, in the order in which they came.
    pub fn feed(&mut self, bytes: &[u8], now: Instant) {
        if self
            .last_byte
            .is_some_and(|last| now.saturating_duration_since(last) >= ONE_KEY)
        {
            self.interrupted();
        }
        if !bytes.is_empty() {
            self.last_byte = Some(now);
        }
        for &byte in bytes {
            self.byte(byte, now);
        }
    }

    /// Whether a line was begun and neither submitted nor cleared.
    pub fn half_typed(&self, now: Instant) -> bool {
        // In the middle of a sequence nobody knows yet what it is; after a while, an Escape is one.
        let recent = self
            .last_byte
            .is_some_and(|last| now.saturating_duration_since(last) < ONE_KEY);
        let between = match self.place {
            Place::Ground => true,
            Place::Escape => !recent,
            _ => false,
        };
        self.characters > 0 || self.unsure || !between
    }

    /// When the last key that types or submits was pressed.
    pub fn last_key(&self) -> Option<Instant> {
        self.last_key
    }

    /// The line was submitted by somebody else: a delivery ended it with a Return of its own.
    pub fn submitted(&mut self) {
        self.empty();
    }

    /// The bytes paused in the middle of a sequence: it was no sequence.
    fn interrupted(&mut self) {
        match self.place {
            // A paste may be slow. Its end is the only thing that ends it.
            Place::Ground | Place::Paste(_) => return,
            Place::Escape => {}
            _ => self.doubt(),
        }
        self.place = Place::Ground;
        self.parameters.clear();
    }

    fn byte(&mut self, byte: u8, now: Instant) {
        match self.place {
            Place::Ground => self.ground(byte, now),
            Place::Escape => self.escape(byte, now),
            Place::Single => {
                self.place = Place::Ground;
                self.key(keys::single(byte), now);
            }
            Place::Control => self.control(byte, now),
            Place::Mouse(left) => {
                self.place = match left {
                    0 | 1 => Place::Ground,
                    more => Place::Mouse(more - 1),
                };
            }
            Place::Text => match byte {
                0x07 => self.place = Place::Ground,
                0x1b => self.place = Place::TextEscape,
                _ => {}
            },
            Place::TextEscape => match byte {
                b'\\' => self.place = Place::Ground,
                // The string was cut off by another sequence.
                _ => self.escape(byte, now),
            },
            Place::Paste(seen) => self.paste(byte, seen, now),
        }
    }

    fn ground(&mut self, byte: u8, now: Instant) {
        match byte {
            0x1b => self.place = Place::Escape,
            // The rest of a character in UTF-8 was counted with its first byte.
            0x80..=0xbf => self.last_key = Some(now),
            _ => self.key(keys::plain(byte), now),
        }
    }

    fn escape(&mut self, byte: u8, now: Instant) {
        self.place = match byte {
            b'[' => Place::Control,
            b'O' => Place::Single,
            b']' | b'P' | b'_' | b'^' | b'X' => Place::Text,
            0x1b => Place::Escape,
            _ => {
                // Alt with a key, or the key after Escape. Both may have changed the line.
                self.place = Place::Ground;
                return self.key(Key::Doubtful, now);
            }
        };
        self.parameters.clear();
    }

    fn control(&mut self, byte: u8, now: Instant) {
        match byte {
            0x20..=0x3f => {
                if self.parameters.len() < PARAMETERS {
                    self.parameters.push(byte);
                }
            }
            b'M' if self.parameters.is_empty() => self.place = Place::Mouse(3),
            0x40..=0x7e => {
                self.place = Place::Ground;
                let parameters = std::mem::take(&mut self.parameters);
                if byte == b'~' && parameters == b"200" {
                    self.place = Place::Paste(0);
                    self.pasted = false;
                    self.last_key = Some(now);
                } else {
                    self.key(keys::sequence(&parameters, byte), now);
                }
            }
            0x1b => self.place = Place::Escape,
            // A control character inside a sequence acts at once, and ends nothing that we know of.
            _ => {
                self.place = Place::Ground;
                self.parameters.clear();
                self.doubt();
                self.ground(byte, now);
            }
        }
    }

    fn paste(&mut self, byte: u8, seen: usize, now: Instant) {
        self.last_key = Some(now);
        if PASTE_END.get(seen) == Some(&byte) {
            let seen = seen + 1;
            if seen < PASTE_END.len() {
                self.place = Place::Paste(seen);
                return;
            }
            self.place = Place::Ground;
            // A paste without text is an image to some programs.
            if !self.pasted {
                self.doubt();
            }
            return;
        }
        // What looked like the end was text.
        self.place = Place::Paste(usize::from(byte == 0x1b));
        if seen > 0 {
            self.doubt();
        }
        match byte {
            b'\r' | b'\n' => {
                self.several_lines = true;
                self.doubt();
            }
            0x80..=0xbf => {}
            0x20..=0x7e | 0xc0..=0xff => self.characters += 1,
            _ => self.doubt(),
        }
        self.pasted = true;
        self.backslash = byte == b'\\';
    }

    fn key(&mut self, key: Key, now: Instant) {
        let backslash = std::mem::replace(&mut self.backslash, key == Key::Character('\\'));
        match key {
            Key::Nothing => {
                self.backslash = backslash;
                return;
            }
            Key::Character(_) => self.characters += 1,
            Key::Submit if backslash => {
                self.several_lines = true;
                self.doubt();
            }
            Key::Submit | Key::Abort => self.empty(),
            Key::ClearLine if self.several_lines || self.moved => self.doubt(),
            Key::ClearLine => self.empty(),
            Key::Delete => self.characters = self.characters.saturating_sub(1),
            Key::Move if self.characters > 0 || self.unsure => {
                self.moved = true;
                self.doubt();
            }
            // On an empty line there is nothing to move in. Arrows are not typing.
            Key::Move => return,
            Key::NewLine => {
                self.several_lines = true;
                self.doubt();
            }
            Key::Complete => self.doubt(),
            Key::Doubtful => {
                self.moved = true;
                self.doubt();
            }
        }
        self.last_key = Some(now);
    }

    fn doubt(&mut self) {
        self.unsure = true;
    }

    fn empty(&mut self) {
        self.characters = 0;
        self.unsure = false;
        self.moved = false;
        self.backslash = false;
        self.several_lines = false;
    }
}

#[cfg(test)]
mod tests;
