//! Anchors: the name of a part of one message, or of a range of its parts.
//!
//! `item_<uuid>#^a7f` is the part with that id, `item_<uuid>#^a7f:^b2e` all from one to another. An
//! id has sixteen bits, so a message may have two parts with one id: `item_<uuid>#^a7f.2` is the
//! second of them.

use std::fmt;

use crate::id::{parse_message, parse_name};
use crate::refs::is_fragment_id;

/// A part among those of its message: its id, and which of several that have it, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartName {
    pub id: String,
    pub nth: Option<usize>,
}

impl PartName {
    /// Reads `^a7f` or `^a7f.2`.
    pub fn parse(text: &str) -> Option<PartName> {
        let (id, nth) = match text.split_once('.') {
            Some((id, nth)) => {
                let plain = nth.bytes().all(|byte| byte.is_ascii_digit()) && !nth.starts_with('0');
                (id, Some(nth.parse().ok().filter(|_| plain)?))
            }
            None => (text, None),
        };
        is_fragment_id(id).then(|| PartName {
            id: id.to_owned(),
            nth,
        })
    }

    /// Its place among the ids of a message.
    pub fn position<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> Option<usize> {
        let same = ids.into_iter().enumerate().filter(|(_, id)| *id == self.id);
        let nth = self.nth.unwrap_or(1).checked_sub(1)?;
        same.map(|(position, _)| position).nth(nth)
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nth {
            Some(nth) => write!(f, "{}.{nth}", self.id),
            None => f.write_str(&self.id),
        }
    }
}

/// A place inside a message: one part, or a range of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The message: `item_<uuid>` or `msg_<number>`.
    pub item: String,
    pub first: PartName,
    pub last: Option<PartName>,
}

/// Reads `item_<uuid>#^a7f`, `item_<uuid>#^a7f.2` or `item_<uuid>#^a7f:^b2e`; `None` when it is none
/// of them. A message of a thread may be named `msg_<number>` as well.
pub fn parse_anchor(text: &str) -> Option<Anchor> {
    let (item, range) = text.split_once('#')?;
    if !is_message(item) {
        return None;
    }
    let (first, last) = match range.split_once(':') {
        Some((first, last)) => (first, Some(PartName::parse(last)?)),
        None => (range, None),
    };
    Some(Anchor {
        item: item.to_owned(),
        first: PartName::parse(first)?,
        last,
    })
}

/// Whether a name is that of an item.
pub fn is_message(name: &str) -> bool {
    name.starts_with("item_") && parse_name(name).is_some() || parse_message(name).is_some()
}
