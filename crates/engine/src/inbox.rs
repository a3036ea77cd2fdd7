//! What an agent has not read yet, for every answer that orients it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::Caller;
use understory_model::error::Result;
use understory_storage::threads;

use crate::View;
use crate::core::Thing;

/// Threads that are named, and how much of a title.
const NAMED: i64 = 3;
const TITLE: usize = 60;

/// How much is unread, and in which threads.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Unread {
    pub threads: i64,
    pub messages: i64,
    /// The threads with the newest messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newest: Vec<UnreadThread>,
}

/// A thread with unread messages.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UnreadThread {
    pub thread_id: String,
    pub title: String,
    pub unread: i64,
}

/// How much is unread, and in which threads.
pub fn unread(view: &mut View<'_, '_>, caller: &Caller) -> Result<Unread> {
    let (count, messages) = threads::count_unread(view.tx, view.ws, &caller.agent)?;
    let mut newest = Vec::new();
    if count > 0 {
        for listed in threads::unread(view.tx, view.ws, &caller.agent, NAMED)? {
            let thing = Thing::open(listed.entity)?;
            let title = thing.data.get("title").and_then(Value::as_str);
            let title = title.unwrap_or_default().chars().take(TITLE).collect();
            newest.push(UnreadThread {
                thread_id: thing.entity.handle,
                title,
                unread: listed.unread.unwrap_or_default(),
            });
        }
    }
    Ok(Unread {
        threads: count,
        messages,
        newest,
    })
}
