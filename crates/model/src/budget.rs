//! Answers that are never larger than what was asked for.
//!
//! A budget is counted on the compact JSON of the whole answer. What does not fit is dropped from
//! one end of one list and told by `truncated: true`; an answer must never be cut inside an
//! element, because half a record reads like a whole one.

use std::fmt::{self, Write};
use std::ops::Add;

use serde_json::{Map, Value, json};

/// The budget of a call that names none.
pub const DEFAULT_CHARS: usize = 100_000;

/// How large an answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub chars: usize,
    pub bytes: Option<usize>,
    pub lines: Option<usize>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            chars: DEFAULT_CHARS,
            bytes: None,
            lines: None,
        }
    }
}

impl Budget {
    /// A budget as callers give it; a negative one counts as zero.
    pub fn new(chars: Option<i64>, bytes: Option<i64>, lines: Option<i64>) -> Budget {
        // Too large for this machine's memory is as good as unlimited.
        let count = |asked: i64| usize::try_from(asked.max(0)).unwrap_or(usize::MAX);
        Budget {
            chars: chars.map_or(DEFAULT_CHARS, count),
            bytes: bytes.map(count),
            lines: lines.map(count),
        }
    }

    /// What is left of it when so many characters are taken already.
    #[must_use]
    pub fn less(&self, taken: usize) -> Budget {
        Budget {
            chars: self.chars.saturating_sub(taken),
            bytes: self.bytes.map(|bytes| bytes.saturating_sub(taken)),
            lines: self.lines,
        }
    }

    /// Whether the answer is within the budget as it is.
    pub fn holds(&self, answer: &Value) -> bool {
        // Most answers are far below their budget, which a glance tells.
        let room = self.chars.min(self.bytes.unwrap_or(usize::MAX));
        (self.lines.is_none() && at_most(answer) <= room) || self.fits(&size(answer))
    }

    fn fits(&self, size: &Size) -> bool {
        size.chars <= self.chars
            && self.bytes.is_none_or(|bytes| size.bytes <= bytes)
            // The line that the last break ends in counts too.
            && self.lines.is_none_or(|lines| size.breaks < lines)
    }
}

/// The end of the list from which elements are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drop {
    First,
    Last,
}

/// Drops elements of `answer[list]` until the answer fits.
///
/// An answer that does not fit even with an empty list becomes `{<list>: [], truncated: true}`,
/// the only answer that may exceed the budget.
pub fn fit_list(answer: Value, list: &str, budget: &Budget, drop: Drop) -> Value {
    fit(answer, list, budget, drop, None)
}

/// As `fit_list`, for a page of a longer list: when elements are dropped, `answer[key]` becomes
/// the cursor of the last element kept (`Drop::First`: of the first), made from how many are kept and
/// that element, so that the next page takes
/// up exactly where this one was cut. Where no element is kept there is no cursor.
pub fn fit_page(
    answer: Value,
    list: &str,
    budget: &Budget,
    drop: Drop,
    key: &str,
    cursor: impl Fn(usize, &Value) -> Value,
) -> Value {
    fit(answer, list, budget, drop, Some((key, &cursor)))
}

/// Shortens several lists, named by JSON pointers, until the answer fits: each keeps as many of its
/// first elements as the others do. `false` if even empty lists do not help.
pub fn fit_lists(answer: &mut Value, lists: &[&str], budget: &Budget) -> bool {
    if budget.holds(answer) {
        return true;
    }
    let items_of = |list: &&str| match answer.pointer_mut(list) {
        Some(Value::Array(items)) => std::mem::take(items),
        _ => Vec::new(),
    };
    let taken: Vec<Vec<Value>> = lists.iter().map(items_of).collect();
    answer["truncated"] = json!(true);
    let mut whole = size(answer);
    let empty_fits = budget.fits(&whole);
    let longest = taken.iter().map(Vec::len).max().unwrap_or(0);
    // Each element is measured once, and those after the first that does not fit not at all.
    let mut most = 0;
    while empty_fits && most < longest {
        let next = taken.iter().filter_map(|items| items.get(most));
        let comma = Size::plain(usize::from(most > 0));
        let more = next.fold(whole, |sum, item| sum + size(item) + comma);
        if !budget.fits(&more) {
            break;
        }
        (whole, most) = (more, most + 1);
    }
    for (list, mut items) in lists.iter().zip(taken) {
        items.truncate(most);
        if let Some(Value::Array(kept)) = answer.pointer_mut(list) {
            *kept = items;
        }
    }
    empty_fits
}

type CursorOf<'a> = (&'a str, &'a dyn Fn(usize, &Value) -> Value);

fn fit(
    answer: Value,
    list: &str,
    budget: &Budget,
    drop: Drop,
    cursor: Option<CursorOf<'_>>,
) -> Value {
    if budget.holds(&answer) {
        return answer;
    }
    shorten(answer, list, budget, drop, cursor)
        .unwrap_or_else(|| json!({ list: [], "truncated": true }))
}

/// `None` if dropping elements cannot help.
fn shorten(
    mut answer: Value,
    list: &str,
    budget: &Budget,
    drop: Drop,
    cursor: Option<CursorOf<'_>>,
) -> Option<Value> {
    let Value::Array(mut items) = answer.get_mut(list)?.take() else {
        return None;
    };
    let envelope = answer.as_object_mut()?;
    // From here on, what is to be dropped stands at the end.
    if drop == Drop::First {
        items.reverse();
    }
    // One goes in any case: the answer as it was did not fit.
    items.pop()?;
    envelope.insert(list.to_owned(), json!([]));
    envelope.insert("truncated".to_owned(), json!(true));
    if let Some((key, _)) = cursor {
        envelope.remove(key);
    }
    // Sizes with none, one, two … elements, so that each element is measured once.
    let mut sizes = vec![size_of_map(envelope)];
    sizes.extend(items.iter().enumerate().scan(sizes[0], |sum, (i, item)| {
        *sum = *sum + size(item) + Size::plain(usize::from(i > 0));
        Some(*sum)
    }));
    let fitting = sizes.partition_point(|size| budget.fits(size));
    // A cursor makes the answer a little longer again, so the last fit may not be one yet.
    let (kept, mark) = (0..fitting).rev().find_map(|kept| {
        let mark = cursor.and_then(|(key, of)| Some((key, of(kept, items[..kept].last()?))));
        let extra = mark.as_ref().map_or(Size::default(), |(key, value)| {
            size_of_text(key) + size(value) + Size::plain(2)
        });
        budget.fits(&(sizes[kept] + extra)).then_some((kept, mark))
    })?;
    items.truncate(kept);
    if drop == Drop::First {
        items.reverse();
    }
    envelope.insert(list.to_owned(), Value::Array(items));
    if let Some((key, value)) = mark {
        envelope.insert(key.to_owned(), value);
    }
    Some(answer)
}

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

/// What a value takes as compact JSON. That is one line by itself; what is counted as lines are
/// those of the texts in it, which is what a reader sees.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Size {
    chars: usize,
    bytes: usize,
    breaks: usize,
}

impl Size {
    /// So many characters of ASCII.
    fn plain(n: usize) -> Size {
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
fn size(value: &Value) -> Size {
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

fn size_of_map(map: &Map<String, Value>) -> Size {
    // Braces, a colon for each entry and a comma between entries.
    let signs = Size::plain(2 + map.len() + map.len().saturating_sub(1));
    map.iter().fold(signs, |sum, (key, value)| {
        sum + size_of_text(key) + size(value)
    })
}

fn size_of_text(text: &str) -> Size {
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

/// Counts what is written to it.
struct Digits(usize);

impl Write for Digits {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}
