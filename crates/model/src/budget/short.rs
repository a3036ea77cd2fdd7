//! An element that is too long by itself, made short enough to be shown.
//!
//! Its longest texts are cut, at any depth. A text that was cut ends in `…`, and `<field>_chars`
//! beside it says how many characters it has; a list that was cut has its first elements, and
//! `<field>_count` says how many it has. Names, numbers and times are never cut: with them the
//! whole can be asked for.

use serde_json::{Map, Value};

/// What is kept of a text before lists are cut too.
const READABLE: usize = 80;

/// What callers may fill as they like; of these objects entries may be left out.
const FREE: [&str; 6] = [
    "data",
    "details",
    "fields",
    "meta",
    "metadata",
    "properties",
];

/// Fields that name something. A text under such a name that is longer than any name is just a
/// text.
const NAMES: [&str; 36] = [
    "_type", "action", "actor", "agent", "artifact", "base", "branch", "commit", "cursor", "doc",
    "fragment", "from", "handle", "hash", "head", "id", "ids", "into", "item", "key", "kind",
    "label", "log", "name", "parent", "path", "project", "ref", "rel", "session", "stack", "state",
    "status", "to", "type", "uuid",
];
const NAME_ENDS: [&str; 10] = [
    "_at", "_by", "_cursor", "_doc", "_hash", "_id", "_ids", "_ref", "_tool", "_uuid",
];
const LONGEST_NAME: usize = 2_100;

/// A word shorter than this is never cut, whatever it is called: it may be a handle or a hash.
const WORD: usize = 72;

/// What a value is cut down to.
#[derive(Clone, Copy)]
struct Caps {
    /// Characters of a text.
    text: usize,
    /// Elements of a list, entries of an object that is the caller's own.
    list: usize,
}

/// The value with as much of its texts and lists as `fits` allows; `None` if nothing that can be
/// cut helps.
pub fn short(value: &Value, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    within(fits, |caps| cut(value, "", caps, false), longest(value))
}

/// As [`short`], for several values that share the room; none of them is left out.
pub(super) fn each(values: &Value, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    let all = values.as_array().map_or(&[][..], Vec::as_slice);
    let of = |caps| {
        Value::Array(
            all.iter()
                .map(|value| cut(value, "", caps, false))
                .collect(),
        )
    };
    within(fits, of, longest(values))
}

/// The value with every text of at most this many characters; `None` if none is longer.
pub(super) fn capped(value: &Value, text: usize) -> Option<Value> {
    let list = usize::MAX;
    let cut = cut(value, "", Caps { text, list }, false);
    (cut != *value).then_some(cut)
}

/// The shortest form there is.
pub(super) fn least(value: &Value) -> Value {
    cut(value, "", Caps { text: 0, list: 0 }, false)
}

/// The fullest form that fits: texts give way first, then lists, then the rest of the texts.
fn within(
    fits: impl Fn(&Value) -> bool,
    of: impl Fn(Caps) -> Value,
    longest: usize,
) -> Option<Value> {
    let most = |low: usize, high: usize, caps: &dyn Fn(usize) -> Caps| {
        let fit = |cap: usize| Some(of(caps(cap))).filter(|cut| fits(cut));
        let mut best = fit(low)?;
        let (mut low, mut high) = (low, high);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match fit(middle) {
                Some(cut) => (best, low) = (cut, middle),
                None => high = middle - 1,
            }
        }
        Some(best)
    };
    let list = usize::MAX;
    most(READABLE, longest.max(READABLE), &|text| Caps { text, list })
        .or_else(|| {
            most(0, longest, &|list| Caps {
                text: READABLE,
                list,
            })
        })
        .or_else(|| most(0, READABLE, &|text| Caps { text, list: 0 }))
}

/// The length of the longest text or list.
fn longest(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(longest).fold(items.len(), usize::max),
        Value::Object(map) => map.values().map(longest).fold(map.len(), usize::max),
        _ => 0,
    }
}

/// `name` is the field that the value stands in; `free` says that the field is the caller's own.
fn cut(value: &Value, name: &str, caps: Caps, free: bool) -> Value {
    match value {
        Value::String(text) => {
            if is_cut(name, text, caps) {
                head(text, caps.text).into()
            } else {
                value.clone()
            }
        }
        Value::Array(items) => items
            .iter()
            .take(caps.list)
            .map(|item| cut(item, name, caps, free))
            .collect(),
        Value::Object(map) => {
            let kept = if free { caps.list } else { usize::MAX };
            let mut short = Map::new();
            for (name, value) in map.iter().take(kept) {
                let free = free || FREE.contains(&name.as_str());
                tell(&mut short, (name, value), caps, free);
                short.insert(name.clone(), cut(value, name, caps, free));
            }
            Value::Object(short)
        }
        _ => value.clone(),
    }
}

/// Says beside a field what is not shown of it.
fn tell(short: &mut Map<String, Value>, (name, value): (&String, &Value), caps: Caps, free: bool) {
    let count = match value {
        Value::Array(items) => items.len(),
        Value::Object(map) if free => map.len(),
        _ => 0,
    };
    let mut told = |what: &str, number: usize| {
        short.insert(format!("{name}_{what}"), number.into());
    };
    if count > caps.list {
        told("count", count);
    }
    if any_cut(name, value, caps) {
        told("chars", chars_of(value));
    }
}

/// Whether a text that stands in this field, alone or in a list, is cut.
fn any_cut(name: &str, value: &Value, caps: Caps) -> bool {
    match value {
        Value::String(text) => is_cut(name, text, caps),
        Value::Array(items) => items
            .iter()
            .take(caps.list)
            .any(|item| any_cut(name, item, caps)),
        _ => false,
    }
}

/// The characters of a text, or of those in a list.
fn chars_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.iter().map(chars_of).sum(),
        _ => 0,
    }
}

/// Whether a text is one that may be cut, and cutting it to the cap makes the answer shorter with
/// what must be said about it.
fn is_cut(name: &str, text: &str, caps: Caps) -> bool {
    // `…`, `,"_chars":` and the number.
    let said = name.len() + 20;
    let most = caps.text.saturating_add(said);
    if text.len() <= most || text.chars().count() <= most {
        return false;
    }
    let named = NAMES.contains(&name) || NAME_ENDS.iter().any(|end| name.ends_with(end));
    let word = text.len() <= WORD && !text.contains(char::is_whitespace);
    !word && (!named || text.len() > LONGEST_NAME)
}

fn head(text: &str, chars: usize) -> String {
    let mut head: String = text.chars().take(chars).collect();
    head.push('…');
    head
}
