//! What an agent has not read yet, for every answer that orients it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Caller;
use understory_model::error::Result;
use understory_storage::threads;

use crate::View;
use crate::kernel::content::text;
use crate::kernel::core::Thing;

/// Threads that are named, and how much of a title.
const NAMED: i64 = 3;
const TITLE: usize = 60;

/// How much of the caller's threads it has not read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unread {
    /// Threads with unread messages.
    pub threads: i64,
    /// Unread messages in all of them.
    pub messages: i64,
    /// The threads that changed last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newest: Vec<Newest>,
}

/// A thread with unread messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Newest {
    pub thread_id: String,
    /// The beginning of its title.
    pub title: String,
    pub unread: Option<i64>,
}

/// How much is unread, and in which threads.
pub fn unread(view: &mut View<'_, '_>, caller: &Caller) -> Result<Unread> {
    let mut unread = count(view, caller)?;
    if unread.threads > 0 {
        for listed in threads::unread(view.tx, view.ws, &caller.agent, NAMED)? {
            let thing = Thing::open(listed.entity)?;
            unread.newest.push(Newest {
                title: text(&thing.data, "title").chars().take(TITLE).collect(),
                thread_id: thing.entity.handle,
                unread: listed.unread,
            });
        }
    }
    Ok(unread)
}

/// How much is unread, without naming threads.
pub fn count(view: &mut View<'_, '_>, caller: &Caller) -> Result<Unread> {
    let (threads, messages) = threads::count_unread(view.tx, view.ws, &caller.agent)?;
    Ok(Unread {
        threads,
        messages,
        newest: Vec::new(),
    })
}
