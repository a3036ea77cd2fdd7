//! What an agent has not read yet, for every answer that orients it.

use serde_json::{Map, Value, json};
use understory_model::Caller;
use understory_model::error::Result;
use understory_storage::threads;

use crate::View;
use crate::core::Thing;

/// Threads that are named, and how much of a title.
const NAMED: i64 = 3;
const TITLE: usize = 60;

/// How much is unread, and in which threads.
pub fn unread(view: &mut View<'_, '_>, caller: &Caller) -> Result<Value> {
    let (count, messages) = threads::count_unread(view.tx, view.ws, &caller.agent)?;
    let mut newest = Vec::new();
    if count > 0 {
        for listed in threads::unread(view.tx, view.ws, &caller.agent, NAMED)? {
            let thing = Thing::open(listed.entity)?;
            let title = thing.data.get("title").and_then(Value::as_str);
            let title: String = title.unwrap_or_default().chars().take(TITLE).collect();
            newest.push(json!({
                "thread_id": thing.entity.handle,
                "title": title,
                "unread": listed.unread,
            }));
        }
    }
    let mut answer = none();
    answer["threads"] = count.into();
    answer["messages"] = messages.into();
    if !newest.is_empty() {
        answer["newest"] = newest.into();
    }
    Ok(answer)
}

/// As [`unread`], where nothing is.
pub fn none() -> Value {
    let fields = ["threads", "messages"].map(|name| (name.to_string(), Value::from(0)));
    Value::Object(Map::from_iter(fields))
}
