//! `read_messages`: a thread's messages after a number, in order.

use serde_json::{Value, json};
use understory_model::Caller;
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_storage::messages;

use super::{find, fitted, lean, shown};
use crate::View;

/// A stretch of a thread.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    pub since: i64,
    pub limit: i64,
}

pub fn read(
    view: &mut View<'_, '_>,
    caller: &Caller,
    handle: &str,
    stretch: Stretch,
    budget: &Budget,
) -> Result<Value> {
    let found = find(view, caller, handle)?;
    let Stretch { since, limit } = stretch;
    let mut rows = messages::after(view.tx, view.ws, found.row.id, since, limit + 1)?;
    let more = rows.len() as i64 > limit;
    rows.truncate(usize::try_from(limit).unwrap_or(0));
    let items: Vec<Value> = rows.iter().map(|(_, item)| shown(item)).collect();
    let page = |messages: &[Value], more: bool| {
        let last = messages
            .last()
            .map_or(since.into(), |last| last["seq"].clone());
        json!({ "messages": messages, "next_seq": last, "has_more": more })
    };
    let answer = fitted("messages", items.len(), budget, |kept| {
        page(&items[..kept], more || kept < items.len())
    });
    let Some(first) = items.first().filter(|_| answer["messages"] == json!([])) else {
        return Ok(answer);
    };
    let mut least = page(&[lean(first)], more || items.len() > 1);
    least["truncated"] = true.into();
    Ok(if budget.holds(&least) { least } else { answer })
}
