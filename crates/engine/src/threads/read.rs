//! `read_messages`: a thread's messages after a number, in order, with the changes of the thread
//! that came between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_storage::{messages, turns};

use super::shape::{Form, Message};
use super::{SCHEMA_VERSION, Turned, find};
use crate::View;

/// Changes of a thread that one page shows, the last ones.
const CHANGES: i64 = 50;

/// A stretch of a thread.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    pub since: i64,
    pub limit: i64,
    /// Every field of each message.
    pub full: bool,
}

/// The answer of `read_messages`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Messages {
    pub thread_id: String,
    pub schema_version: i64,
    /// The oldest first.
    pub messages: Vec<Message>,
    /// Changes of the thread's status and participants between these messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Turned>,
    /// The number of the last message shown: the next call's `since_seq`.
    pub next_seq: i64,
    pub has_more: bool,
    /// After which message the page begins.
    #[serde(skip)]
    since: i64,
}

impl Messages {
    /// What came after the last message of a page belongs to the next one.
    fn ending(mut self, has_more: bool) -> Messages {
        let last = self.messages.last().and_then(|last| last.seq);
        let last = last.unwrap_or(self.since);
        self.changes.retain(|one| !has_more || one.after_seq < last);
        Messages {
            next_seq: last,
            has_more,
            ..self
        }
    }

    fn of(&self, messages: Vec<Message>, changes: Vec<Turned>) -> Messages {
        let more = self.has_more || messages.len() < self.messages.len();
        let page = Messages {
            thread_id: self.thread_id.clone(),
            messages,
            changes,
            ..*self
        };
        page.ending(more)
    }
}

impl Fit for Messages {
    const SHAPE: Shape = Shape::Rows { list: "messages" };

    fn rows(&self) -> usize {
        self.messages.len()
    }

    fn first(&self, kept: usize) -> Option<Messages> {
        let messages = self.messages.get(..kept)?.to_vec();
        Some(self.of(messages, self.changes.clone()))
    }

    fn lean(&self) -> Vec<Messages> {
        let first = self.messages.first();
        let lean = first.map(|first| self.of(vec![first.lean()], Vec::new()));
        lean.into_iter().collect()
    }
}

pub fn read(view: &mut View<'_, '_>, handle: &str, stretch: Stretch) -> Result<Messages> {
    let found = find(view, handle)?;
    let Stretch { since, limit, full } = stretch;
    let mut rows = messages::after(view.tx, view.ws, found.row.id, since, limit + 1)?;
    let more = rows.len() as i64 > limit;
    rows.truncate(usize::try_from(limit).unwrap_or(0));
    let form = if full { Form::Full } else { Form::Brief };
    let items = rows.iter().map(|(_, item)| item);
    let changes = turns::between(view.tx, view.ws, found.row.id, since, i64::MAX, CHANGES)?;
    let changes = changes.iter().map(|(turn, item)| Turned::of(turn, item));
    let page = Messages {
        thread_id: found.handle().to_string(),
        schema_version: SCHEMA_VERSION,
        messages: items
            .map(|item| Message::of(item, &view.caller.agent, form))
            .collect(),
        changes: changes.collect(),
        next_seq: since,
        has_more: more,
        since,
    };
    Ok(page.ending(more))
}
