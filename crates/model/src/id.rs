//! How things are named: sequence numbers inside, short handles and prefixed uuids outside.

use uuid::Uuid;

/// A workspace, numbered within its store.
pub type Ws = i64;
/// The position of an item in its workspace's log; the first is 1.
pub type Seq = i64;
/// An entity: the `Seq` of the item that made it, so that one number space serves both.
pub type Id = i64;

/// The largest `Seq`; ids are packed into 40 bits beside the workspace where an index wants one key.
pub const MAX_SEQ: Seq = (1 << 40) - 1;

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

/// `entity_<uuid>`: the name of a belief, which bears the uuid of the item that made it.
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

/// `msg_<seq>`: a message bears the number of its item, so that naming it takes no counter and
/// finding it no index.
pub fn message_name(seq: Seq) -> String {
    format!("msg_{seq}")
}

/// Reads `msg_<seq>`; `None` when it is none.
pub fn parse_message(text: &str) -> Option<Seq> {
    let digits = text.strip_prefix("msg_")?;
    let number: Seq = digits.parse().ok()?;
    (message_name(number) == text).then_some(number)
}

/// One step of a tree path: eight characters that sort as the id does.
///
/// Fixed width makes "is below" a range over text, and the order of paths the order of the tree.
pub fn path_step(id: Id) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
    (0..8)
        .rev()
        .map(|at| DIGITS[((id >> (at * 5)) & 31) as usize] as char)
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
            step.iter().try_fold(0, |id: Id, digit| {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'v' => digit - b'a' + 10,
                    _ => return None,
                };
                Some((id << 5) | Id::from(value))
            })
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
        let ids = [1, 31, 32, 33, 1023, 1024, 999_999_999, MAX_SEQ];
        let steps: Vec<String> = ids.iter().map(|id| path_step(*id)).collect();
        assert!(steps.is_sorted());
        assert_eq!(path_ids(&steps.concat()), Some(ids.to_vec()));
        assert_eq!(path_ids("0000000"), None);
        assert_eq!(path_ids("0000000z"), None);
    }

    #[test]
    fn a_message_has_one_name() {
        assert_eq!(parse_message(&message_name(42)), Some(42));
        for other in ["msg_042", "msg_+42", "msg_", "msg_x", "MSG_42", "42"] {
            assert_eq!(parse_message(other), None, "{other}");
        }
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
