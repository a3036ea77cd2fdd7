//! The answer of `wait_for_messages`: what came, and from where to go on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Id;
use understory_model::answer::{Fit, Shape};

use super::Turned;
use super::shape::Message;

/// What follows a thread's id where not its messages but its changes are counted.
pub const CHANGES: &str = "/status";

const HOW_TO_GO_ON: &str = "Give `next` as `ack` to your next wait_for_messages: that marks these \
    as read. Until then they stay unread, and a new session is told of them again.";

/// The answer of `wait_for_messages`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Waited {
    /// In the order in which they were posted.
    pub messages: Vec<Message>,
    /// Changes of the status and participants of threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Turned>,
    /// Up to which message of each thread was told, and with `/status` after the thread's id, up to
    /// which of its changes: the next call's `ack`.
    pub next: BTreeMap<String, i64>,
    pub has_more: bool,
    /// Nothing came in time.
    pub timed_out: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(skip)]
    pub(super) from: Source,
}

/// What an answer is made of, so that one with fewer rows can be made of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Source {
    /// Messages and changes in the order in which they were written.
    pub rows: Vec<Row>,
    pub watched: Vec<Watched>,
    /// Whether the caller has to be told how to say that it has read this.
    pub explain: bool,
}

/// One of what came: where it belongs.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub thread: String,
    pub what: What,
}

/// Which of its thread's messages or changes it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    Message(i64),
    Change(i64),
}

/// A thread that is waited on, and after which of its messages and changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Watched {
    pub id: Id,
    pub handle: String,
    pub since: i64,
    pub seen: i64,
    /// The number of its last message.
    pub last: i64,
    /// How many changes it has.
    pub changes: i64,
    /// Whether the wait goes on from what was told, and not from where the caller says.
    pub goes_on: bool,
}

impl Source {
    /// From where to go on after this many rows.
    fn next(&self, kept: usize, more: bool) -> BTreeMap<String, i64> {
        let mut next = BTreeMap::new();
        for one in &self.watched {
            next.insert(one.handle.clone(), one.since);
            if one.changes > 0 {
                // Where all was told, one's own changes are known too.
                let seen = if more { one.seen } else { one.changes };
                next.insert(format!("{}{CHANGES}", one.handle), seen);
            }
        }
        for row in self.rows.iter().take(kept) {
            match row.what {
                What::Message(n) => {
                    next.insert(row.thread.clone(), n);
                }
                What::Change(n) if more => {
                    next.insert(format!("{}{CHANGES}", row.thread), n);
                }
                What::Change(_) => {}
            }
        }
        next
    }
}

impl Waited {
    /// What came.
    pub(super) fn of(
        messages: Vec<Message>,
        changes: Vec<Turned>,
        has_more: bool,
        from: Source,
    ) -> Waited {
        Waited {
            messages,
            changes,
            next: from.next(from.rows.len(), has_more),
            has_more,
            timed_out: false,
            hint: from.explain.then(|| HOW_TO_GO_ON.to_string()),
            from,
        }
    }

    fn with(&self, kept: usize, messages: Vec<Message>, changes: Vec<Turned>) -> Waited {
        let has_more = self.has_more || kept < self.from.rows.len();
        Waited {
            messages,
            changes,
            next: self.from.next(kept, has_more),
            has_more,
            timed_out: false,
            hint: self.hint.clone(),
            from: Source::default(),
        }
    }
}

impl Fit for Waited {
    const SHAPE: Shape = Shape::Rows { list: "messages" };

    fn rows(&self) -> usize {
        self.from.rows.len()
    }

    fn first(&self, kept: usize) -> Option<Waited> {
        if self.timed_out {
            return None;
        }
        let rows = self.from.rows.get(..kept)?.iter();
        let messages = rows.filter(|row| matches!(row.what, What::Message(_)));
        let messages = messages.count();
        let changes = self.changes.get(..kept - messages)?;
        Some(self.with(
            kept,
            self.messages.get(..messages)?.to_vec(),
            changes.to_vec(),
        ))
    }

    fn lean(&self) -> Vec<Waited> {
        let lean = || {
            let mut one = self.first(1)?;
            one.messages = one.messages.iter().map(Message::lean).collect();
            one.changes = one.changes.into_iter().map(Turned::lean).collect();
            Some(one)
        };
        let without_hint = lean().map(|one| Waited { hint: None, ..one });
        lean().into_iter().chain(without_hint).collect()
    }
}
