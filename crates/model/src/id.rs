//! How things are named: sequence numbers inside, short handles and prefixed uuids outside.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The largest `Seq` that an item can have; ids are packed into 40 bits beside the workspace where
/// an index wants one key.
pub const MAX_SEQ: Seq = Seq((1 << 40) - 1);

/// What is kept as a whole number, in a column or in a cursor.
pub trait Number: Copy {
    fn from_number(number: i64) -> Self;
    fn number(self) -> i64;
}

impl Number for i64 {
    fn from_number(number: i64) -> i64 {
        number
    }

    fn number(self) -> i64 {
        self
    }
}

/// Declares a number type of its own: written as the bare number, never mixed up with
/// another kind.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident)+) => {
        $($(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default,
            Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub i64);

        // Derived, it would describe every field of an answer with the comment of its type.
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                i64::schema_name()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                i64::json_schema(generator)
            }
        }

        impl Number for $name {
            fn from_number(number: i64) -> $name {
                $name(number)
            }

            fn number(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        })+
    };
}

numbers! {
    /// A workspace, numbered within its store.
    Ws
    /// The position of an item in its workspace's log; the first is 1.
    Seq
    /// An entity, which has the number of the item that made it. Where items are spoken of beside
    /// entities (what is found, what is related), an item stands under its own number.
    Id
}

impl Seq {
    /// Before every item, and everything that comes before items in a list.
    pub const MIN: Seq = Seq(i64::MIN);
    /// Before the first item.
    pub const ZERO: Seq = Seq(0);
    pub const FIRST: Seq = Seq(1);
    /// After every item.
    pub const MAX: Seq = Seq(i64::MAX);

    #[must_use]
    pub fn next(self) -> Seq {
        self + 1
    }
}

/// This many items further.
impl Add<i64> for Seq {
    type Output = Seq;

    fn add(self, items: i64) -> Seq {
        Seq(self.0.saturating_add(items))
    }
}

impl AddAssign<i64> for Seq {
    fn add_assign(&mut self, items: i64) {
        *self = *self + items;
    }
}

/// This many items back.
impl Sub<i64> for Seq {
    type Output = Seq;

    fn sub(self, items: i64) -> Seq {
        Seq(self.0.saturating_sub(items))
    }
}

/// How many items lie between two places.
impl Sub for Seq {
    type Output = i64;

    fn sub(self, other: Seq) -> i64 {
        self.0.saturating_sub(other.0)
    }
}

impl Id {
    /// Below every entity.
    pub const ZERO: Id = Id(0);
    /// Above every entity.
    pub const MAX: Id = Id(i64::MAX);

    /// The entity that the item at a place made.
    pub const fn of(creation: Seq) -> Id {
        Id(creation.0)
    }

    /// Where in the log the item is that made this entity.
    pub const fn seq(self) -> Seq {
        Seq(self.0)
    }
}

/// The kinds of short handle, each counted on its own in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleKind {
    Plan,
    Task,
    Record,
    Thread,
    Wake,
    Proposal,
}

impl HandleKind {
    pub const ALL: [HandleKind; 6] = [
        HandleKind::Plan,
        HandleKind::Task,
        HandleKind::Record,
        HandleKind::Thread,
        HandleKind::Wake,
        HandleKind::Proposal,
    ];

    pub fn prefix(self) -> &'static str {
        match self {
            HandleKind::Plan => "PLAN-",
            HandleKind::Task => "TASK-",
            HandleKind::Record => "R",
            HandleKind::Thread => "th_",
            HandleKind::Wake => "wake_",
            HandleKind::Proposal => "prop_",
        }
    }

    /// `TASK-001`; past 999 it simply grows.
    pub fn handle(self, number: i64) -> String {
        format!("{}{number:03}", self.prefix())
    }
}

/// `item_<uuid>`: the name of a fact.
pub fn item_name(uuid: &Uuid) -> String {
    format!("item_{}", uuid.hyphenated())
}

/// `entity_<uuid>`: the name of a belief, which has the uuid of the item that made it.
pub fn entity_name(uuid: &Uuid) -> String {
    format!("entity_{}", uuid.hyphenated())
}

/// Reads `item_<uuid>` or `entity_<uuid>`; `None` when it is neither.
pub fn parse_name(text: &str) -> Option<Uuid> {
    let bare = text
        .strip_prefix("entity_")
        .or_else(|| text.strip_prefix("item_"))?;
    Uuid::try_parse(bare).ok()
}

/// `msg_<seq>`: a message has the number of its item, so that naming it takes no counter and
/// finding it no index.
pub fn message_name(seq: Seq) -> String {
    format!("msg_{seq}")
}

/// Reads `msg_<seq>`; `None` for anything else.
pub fn parse_message(text: &str) -> Option<Seq> {
    let digits = text.strip_prefix("msg_")?;
    let number = Seq(digits.parse().ok()?);
    (message_name(number) == text).then_some(number)
}

/// One step of a tree path: eight characters that sort as the id does.
///
/// Fixed width makes "is below" a range over text, and the order of paths the order of the tree.
pub fn path_step(id: Id) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
    (0..8)
        .rev()
        .map(|at| DIGITS[((id.0 >> (at * 5)) & 31) as usize] as char)
        .collect()
}

/// The ids along a path, root first; `None` when it is not one.
pub fn path_ids(path: &str) -> Option<Vec<Id>> {
    if !path.len().is_multiple_of(8) || !path.is_ascii() {
        return None;
    }
    path.as_bytes()
        .chunks(8)
        .map(|step| {
            let id = step.iter().try_fold(0, |id, digit| {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'v' => digit - b'a' + 10,
                    _ => return None,
                };
                Some((id << 5) | i64::from(value))
            });
            id.map(Id)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_grow_past_three_digits() {
        assert_eq!(HandleKind::Task.handle(7), "TASK-007");
        assert_eq!(HandleKind::Plan.handle(1), "PLAN-001");
        assert_eq!(HandleKind::Record.handle(12), "R012");
        assert_eq!(HandleKind::Task.handle(1_000_000), "TASK-1000000");
    }

    #[test]
    fn paths_sort_as_ids_and_read_back() {
        let ids = [1, 31, 32, 33, 1023, 1024, 999_999_999, MAX_SEQ.0].map(Id);
        let steps: Vec<String> = ids.iter().map(|id| path_step(*id)).collect();
        assert!(steps.is_sorted());
        assert_eq!(path_ids(&steps.concat()), Some(ids.to_vec()));
        assert_eq!(path_ids("0000000"), None);
        assert_eq!(path_ids("0000000z"), None);
    }

    #[test]
    fn a_message_has_one_name() {
        assert_eq!(parse_message(&message_name(Seq(42))), Some(Seq(42)));
        for other in ["msg_042", "msg_+42", "msg_", "msg_x", "MSG_42", "42"] {
            assert_eq!(parse_message(other), None, "{other}");
        }
    }

    #[test]
    fn a_number_is_written_bare() {
        let written = serde_json::to_string(&(Ws(1), Seq(2), Id::of(Seq(3)))).unwrap();
        assert_eq!(written, "[1,2,3]");
        let read: (Ws, Seq, Id) = serde_json::from_str(&written).unwrap();
        assert_eq!(read, (Ws(1), Seq(2), Id(3)));
        assert_eq!(
            schemars::schema_for!(Vec<Seq>),
            schemars::schema_for!(Vec<i64>)
        );
        assert_eq!(format!("{:03} {}", Seq(7), Id(8).seq().next()), "007 9");
    }

    #[test]
    fn names_carry_their_namespace() {
        let uuid = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001);
        assert_eq!(parse_name(&item_name(&uuid)), Some(uuid));
        assert_eq!(parse_name(&entity_name(&uuid)), Some(uuid));
        assert_eq!(
            parse_name("node_00000000-0000-0000-0000-000000000000"),
            None
        );
        assert_eq!(parse_name("item_x"), None);
    }
}
