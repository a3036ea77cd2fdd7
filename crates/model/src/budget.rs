//! Answers that are never larger than what was asked for: one rule for all of them.
//!
//! A budget is counted on the compact JSON of the whole answer. What does not fit is left out from
//! one end of one list, and the answer says `truncated: true`; elements are left out whole, because
//! half a record reads like a whole one. Only an element that is too long by itself is shortened,
//! and says so beside each field that was cut (see [`short()`]): left out, it would hide everything
//! after it. A page that was cut has the cursor of the last element it shows. Of a list that has no
//! pages, `<list>_count` says how many elements there are.

mod fields;
mod parts;
mod short;
mod size;

use serde::Serialize;
use serde_json::{Map, Value, json};

pub use fields::fit_fields;
pub use parts::{Parts, fit_parts};
pub use short::short;
use short::{capped, least};
use size::{Size, size, size_of_map, size_of_text};
pub use size::{at_most, chars, chars_of};

use crate::limits;

/// How large an answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    pub chars: usize,
    pub bytes: Option<usize>,
    pub lines: Option<usize>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            chars: limits::ANSWER_CHARS,
            bytes: None,
            lines: None,
        }
    }
}

impl Budget {
    /// A budget as callers give it; a negative one counts as zero.
    pub fn new(chars: Option<i64>, bytes: Option<i64>, lines: Option<i64>) -> Budget {
        // More than this machine's memory counts as unlimited.
        let count = |asked: i64| usize::try_from(asked.max(0)).unwrap_or(usize::MAX);
        Budget {
            chars: chars.map_or(limits::ANSWER_CHARS, count),
            bytes: bytes.map(count),
            lines: lines.map(count),
        }
    }

    /// What is left of it when this many characters are taken already.
    #[must_use]
    pub fn less(&self, taken: usize) -> Budget {
        Budget {
            chars: self.chars.saturating_sub(taken),
            bytes: self.bytes.map(|bytes| bytes.saturating_sub(taken)),
            lines: self.lines,
        }
    }

    /// More room than any answer takes.
    pub fn unlimited() -> Budget {
        Budget {
            chars: usize::MAX,
            ..Budget::default()
        }
    }

    /// What is left of it beside an answer of which a part is yet to be filled in.
    #[must_use]
    pub fn beside(&self, answer: &Value) -> Budget {
        let taken = size(answer);
        Budget {
            chars: self.chars.saturating_sub(taken.chars),
            bytes: self.bytes.map(|bytes| bytes.saturating_sub(taken.bytes)),
            lines: self.lines.map(|lines| lines.saturating_sub(taken.breaks)),
        }
    }

    #[must_use]
    pub fn half(&self) -> Budget {
        Budget {
            chars: self.chars / 2,
            bytes: self.bytes.map(|bytes| bytes / 2),
            lines: self.lines.map(|lines| lines.div_ceil(2)),
        }
    }

    /// Whether the answer is within the budget as it is.
    pub fn holds(&self, answer: &Value) -> bool {
        // Most answers are far below their budget, which a glance tells.
        let room = self.chars.min(self.bytes.unwrap_or(usize::MAX));
        (self.lines.is_none() && at_most(answer) <= room) || self.fits(&size(answer))
    }

    /// As [`Budget::holds`], for a typed answer.
    pub fn holds_serialized<T: Serialize>(&self, answer: &T) -> bool {
        // Most answers are far below their budget: their bytes tell, and a character is one or more.
        let room = self.chars.min(self.bytes.unwrap_or(usize::MAX));
        if self.lines.is_none() && size::bytes_of(answer).is_some_and(|bytes| bytes <= room) {
            return true;
        }
        size::size_of(answer).is_some_and(|size| self.fits(&size))
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

/// Drops elements of `answer[list]` until the answer fits, and says how many there are.
///
/// An answer that does not fit even with an empty list becomes `{<list>: [], truncated: true}`,
/// the only answer that may exceed the budget.
pub fn fit_list(answer: Value, list: &str, budget: &Budget, drop: Drop) -> Value {
    fit(answer, list, budget, drop, None)
}

/// As `fit_list`, for a page of a longer list: when elements are dropped, `answer[key]` becomes
/// the cursor of the last element kept (`Drop::First`: of the first), made from how many are kept
/// and that element, so that the next page takes up exactly where this one was cut. Where no
/// element is kept there is no cursor: the one that the page was asked for with still holds.
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

/// The answer with as many of the first rows as fit, where the rest of it depends on which rows are
/// shown; `build` makes it of some rows. A first row that is too long by itself is shortened.
pub fn fit_rows(rows: &[Value], budget: &Budget, build: impl Fn(&[Value]) -> Value) -> Value {
    let whole = build(rows);
    if budget.holds(&whole) {
        return whole;
    }
    let cut = |rows: &[Value]| {
        let mut answer = build(rows);
        answer["truncated"] = json!(true);
        answer
    };
    let (mut low, mut high) = (0, rows.len().saturating_sub(1));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if budget.holds(&cut(&rows[..middle])) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    if low > 0 {
        return cut(&rows[..low]);
    }
    let one = |row: &Value| cut(std::slice::from_ref(row));
    if let Some(first) = rows.first()
        && let Some(row) = short(first, |row| budget.holds(&one(row)))
    {
        return one(&row);
    }
    fit_whole(cut(&[]), budget)
}

/// As [`fit_rows`], for rows that have no further pages: no text of theirs may take more than a
/// quarter of an answer that is too long, so that one long row does not push out all others.
pub fn fit_unpaged(
    list: &str,
    mut rows: Vec<Value>,
    budget: &Budget,
    build: impl Fn(&[Value]) -> Value,
) -> Value {
    let whole = build(&rows);
    if budget.holds(&whole) {
        return whole;
    }
    let shortened = share_out(&mut rows, budget);
    let count = rows.len();
    fit_rows(&rows, budget, |rows| {
        let mut answer = build(rows);
        if shortened {
            answer["truncated"] = json!(true);
        }
        if rows.len() < count
            && let Some(envelope) = answer.as_object_mut()
        {
            tell_count(envelope, list, count);
        }
        answer
    })
}

/// An answer as one thing: whole, or with its long texts and then its lists cut, or nothing but its
/// empty lists and the word that it was too long.
pub fn fit_whole(mut answer: Value, budget: &Budget) -> Value {
    if budget.holds(&answer) {
        return answer;
    }
    if answer.is_object() {
        answer["truncated"] = json!(true);
    }
    short(&answer, |answer| budget.holds(answer)).unwrap_or_else(|| bare(answer))
}

/// What is left of an answer whose envelope alone is too long.
fn bare(mut answer: Value) -> Value {
    if let Some(fields) = answer.as_object_mut() {
        fields.retain(|name, value| value.is_array() || name == "truncated");
        for list in fields.values_mut().filter_map(Value::as_array_mut) {
            list.clear();
        }
    }
    answer
}

/// Shortens several lists, named by JSON pointers, until the answer fits: each keeps as many of its
/// first elements as the others do, and says how many it has beside itself. Where not even one
/// element of each fits, these are shortened. `false` if even empty lists do not help.
pub fn fit_lists(answer: &mut Value, lists: &[&str], budget: &Budget) -> bool {
    if budget.holds(answer) {
        return true;
    }
    let mut taken: Vec<Vec<Value>> = Vec::with_capacity(lists.len());
    for list in lists {
        let mut items = match answer.pointer_mut(list) {
            Some(Value::Array(items)) => std::mem::take(items),
            _ => Vec::new(),
        };
        share_out(&mut items, budget);
        if !items.is_empty()
            && let Some((envelope, name)) = beside(answer, list)
        {
            tell_count(envelope, name, items.len());
        }
        taken.push(items);
    }
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
    if empty_fits && most == 0 && longest > 0 && shorten_firsts(&mut taken, whole, budget) {
        most = 1;
    }
    for (list, mut items) in lists.iter().zip(taken) {
        let all = items.len();
        items.truncate(most);
        let cut = items.len() < all;
        if let Some(Value::Array(kept)) = answer.pointer_mut(list) {
            *kept = items;
        }
        if !cut && let Some((envelope, name)) = beside(answer, list) {
            forget_count(envelope, name, all);
        }
    }
    empty_fits
}

/// Shortens the first element of each list to an equal share of what is left.
fn shorten_firsts(taken: &mut [Vec<Value>], envelope: Size, budget: &Budget) -> bool {
    let firsts: Vec<Value> = taken
        .iter()
        .filter_map(|items| items.first())
        .cloned()
        .collect();
    let fits = |firsts: &Value| {
        let firsts = firsts.as_array().map_or(&[][..], Vec::as_slice);
        let all = firsts.iter().fold(envelope, |sum, item| sum + size(item));
        budget.fits(&all)
    };
    // Elements, not a list of which some may be left out.
    let Some(Value::Array(firsts)) = short::each(&Value::Array(firsts), fits) else {
        return false;
    };
    let mut firsts = firsts.into_iter();
    for first in taken.iter_mut().filter_map(|items| items.first_mut()) {
        if let Some(short) = firsts.next() {
            *first = short;
        }
    }
    true
}

/// The object that something stands in, and its name in it.
pub(crate) fn beside<'a>(
    answer: &'a mut Value,
    pointer: &'a str,
) -> Option<(&'a mut Map<String, Value>, &'a str)> {
    let (parent, name) = pointer.rsplit_once('/')?;
    Some((answer.pointer_mut(parent)?.as_object_mut()?, name))
}

/// Says how many elements a list has, unless the answer says so already.
fn tell_count(envelope: &mut Map<String, Value>, list: &str, count: usize) {
    let told = ["total".to_string(), format!("total_{list}")];
    if told.iter().all(|name| !envelope.contains_key(name)) {
        envelope
            .entry(format!("{list}_count"))
            .or_insert(count.into());
    }
}

/// Takes back what `tell_count` said of a list that is shown whole after all.
fn forget_count(envelope: &mut Map<String, Value>, list: &str, count: usize) {
    let name = format!("{list}_count");
    if envelope.get(&name) == Some(&count.into()) {
        envelope.remove(&name);
    }
}

/// Cuts the texts that would take more than a quarter of the answer; whether there were any.
fn share_out(rows: &mut [Value], budget: &Budget) -> bool {
    let share = budget.chars.min(budget.bytes.unwrap_or(usize::MAX)) / 4;
    let mut any = false;
    for row in rows {
        if at_most(row) > share
            && let Some(cut) = capped(row, share)
        {
            (*row, any) = (cut, true);
        }
    }
    any
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
    envelope.insert(list.to_owned(), json!([]));
    envelope.insert("truncated".to_owned(), json!(true));
    let goes_on = cursor.and_then(|(key, _)| envelope.remove(key)).is_some();
    if cursor.is_none() && share_out(&mut items, budget) {
        envelope.insert(list.to_owned(), items.clone().into());
        if budget.fits(&size_of_map(envelope)) {
            if drop == Drop::First {
                items.reverse();
            }
            envelope.insert(list.to_owned(), items.into());
            return Some(answer);
        }
        envelope.insert(list.to_owned(), json!([]));
    }
    if cursor.is_none() && !items.is_empty() {
        tell_count(envelope, list, items.len());
    }
    let cursor_of = |kept: usize| {
        let (key, of) = cursor?;
        Some((key, of(kept, items[..kept].last()?)))
    };
    if let Some(kept) = fitting(envelope, &items, budget, &cursor_of) {
        let mark = cursor_of(kept);
        items.truncate(kept);
        if drop == Drop::First {
            items.reverse();
        }
        envelope.insert(list.to_owned(), Value::Array(items));
        if let Some((key, value)) = mark {
            envelope.insert(key.to_owned(), value);
        }
        return Some(answer);
    }
    let more = goes_on || items.len() > 1;
    let mark = cursor_of(1.min(items.len())).filter(|_| more);
    one(envelope, list, items.first(), mark, budget)
}

/// How many elements fit, if any and not all: the answer as it was did not fit.
fn fitting<'k>(
    envelope: &Map<String, Value>,
    items: &[Value],
    budget: &Budget,
    cursor_of: &dyn Fn(usize) -> Option<(&'k str, Value)>,
) -> Option<usize> {
    let candidates = &items[..items.len().checked_sub(1)?];
    // Sizes with none, one, two … elements, so that each element is measured once.
    let mut sizes = vec![size_of_map(envelope)];
    sizes.extend(
        candidates
            .iter()
            .enumerate()
            .scan(sizes[0], |sum, (i, item)| {
                *sum = *sum + size(item) + Size::plain(usize::from(i > 0));
                Some(*sum)
            }),
    );
    let fitting = sizes.partition_point(|size| budget.fits(size));
    // A cursor makes the answer a little longer again, so the last fit may not be one yet.
    (1..fitting).rev().find(|kept| {
        let extra = cursor_of(*kept).map_or(Size::default(), |(key, value)| {
            size_of_text(key) + size(&value) + Size::plain(2)
        });
        budget.fits(&(sizes[*kept] + extra))
    })
}

/// The answer with its first element alone, shortened; without any where even that is too long.
fn one(
    envelope: &Map<String, Value>,
    list: &str,
    first: Option<&Value>,
    mark: Option<(&str, Value)>,
    budget: &Budget,
) -> Option<Value> {
    // What stands around the list gives way before the element does.
    let lean = match least(&Value::Object(envelope.clone())) {
        Value::Object(lean) => lean,
        _ => Map::new(),
    };
    for envelope in [envelope, &lean] {
        let with = |row: &Value| {
            let mut answer = envelope.clone();
            answer.insert(list.to_owned(), json!([row]));
            forget_count(&mut answer, list, 1);
            if let Some((key, value)) = &mark {
                answer.insert((*key).to_owned(), value.clone());
            }
            Value::Object(answer)
        };
        if let Some(first) = first
            && let Some(row) = short(first, |row| budget.holds(&with(row)))
        {
            return Some(with(&row));
        }
    }
    [envelope, &lean]
        .into_iter()
        .find(|envelope| budget.fits(&size_of_map(envelope)))
        .map(|envelope| Value::Object(envelope.clone()))
}
