//! How large a value is as compact JSON, found without building the text.

use std::fmt::{self, Write};
use std::io;
use std::ops::Add;

use serde::Serialize;
use serde_json::{Map, Value};

/// More bytes than a value's compact JSON can have, found without looking at its texts: a character
/// takes at most six when it is escaped.
pub fn at_most(value: &Value) -> usize {
    match value {
        Value::String(text) => 6 * text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| at_most(item) + 1).sum::<usize>(),
        Value::Object(map) => {
            2 + map
                .iter()
                .map(|(key, item)| 6 * key.len() + 4 + at_most(item))
                .sum::<usize>()
        }
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 32,
    }
}

/// How many characters the compact JSON of the value has.
pub fn chars(value: &Value) -> usize {
    size(value).chars
}

/// As [`chars`], for a typed value.
pub fn chars_of<T: Serialize>(value: &T) -> usize {
    size_of(value).map_or(usize::MAX, |size| size.chars)
}

/// What a value takes as compact JSON. That is one line by itself; what is counted as lines are
/// those of the texts in it, which is what a reader sees.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Size {
    pub(super) chars: usize,
    pub(super) bytes: usize,
    pub(super) breaks: usize,
}

impl Size {
    /// This many characters of ASCII.
    pub(super) fn plain(n: usize) -> Size {
        Size {
            chars: n,
            bytes: n,
            breaks: 0,
        }
    }
}

impl Add for Size {
    type Output = Size;

    fn add(self, more: Size) -> Size {
        Size {
            chars: self.chars + more.chars,
            bytes: self.bytes + more.bytes,
            breaks: self.breaks + more.breaks,
        }
    }
}

/// Measured by walking the value: the text itself is never built.
pub(super) fn size(value: &Value) -> Size {
    match value {
        Value::Null | Value::Bool(true) => Size::plain(4),
        Value::Bool(false) => Size::plain(5),
        Value::Number(number) => {
            let mut digits = Digits(0);
            // `Digits` never fails.
            let _ = write!(digits, "{number}");
            Size::plain(digits.0)
        }
        Value::String(text) => size_of_text(text),
        Value::Array(items) => items.iter().fold(
            Size::plain(2 + items.len().saturating_sub(1)),
            |sum, item| sum + size(item),
        ),
        Value::Object(map) => size_of_map(map),
    }
}

pub(super) fn size_of_map(map: &Map<String, Value>) -> Size {
    // Braces, a colon for each entry and a comma between entries.
    let signs = Size::plain(2 + map.len() + map.len().saturating_sub(1));
    map.iter().fold(signs, |sum, (key, value)| {
        sum + size_of_text(key) + size(value)
    })
}

pub(super) fn size_of_text(text: &str) -> Size {
    let mut size = Size::plain(2);
    size.bytes += text.len();
    for byte in text.bytes() {
        let escape = match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
            0..0x20 => 5,
            _ => 0,
        };
        // Every character has exactly one byte that does not continue another.
        size.chars += usize::from(byte & 0xc0 != 0x80) + escape;
        size.bytes += escape;
        size.breaks += usize::from(byte == b'\n');
    }
    size
}

/// The size of anything that serialises to JSON; `None` for what does not.
pub(super) fn size_of<T: Serialize>(value: &T) -> Option<Size> {
    let mut count = Count::default();
    serde_json::to_writer(&mut count, value).ok()?;
    Some(count.size)
}

/// How many bytes anything that serialises to JSON has then; `None` for what does not.
pub(super) fn bytes_of<T: Serialize>(value: &T) -> Option<usize> {
    let mut bytes = Bytes(0);
    serde_json::to_writer(&mut bytes, value).ok()?;
    Some(bytes.0)
}

/// Counts the bytes that are written to it.
struct Bytes(usize);

impl io::Write for Bytes {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.0 += json.len();
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts the JSON that is written to it.
#[derive(Default)]
struct Count {
    size: Size,
    /// Whether the byte before began an escape.
    escaped: bool,
}

impl io::Write for Count {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.size.bytes += json.len();
        for byte in json {
            self.size.chars += usize::from(byte & 0xc0 != 0x80);
            self.size.breaks += usize::from(self.escaped && *byte == b'n');
            self.escaped = !self.escaped && *byte == b'\\';
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts what is written to it.
struct Digits(usize);

impl Write for Digits {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}
