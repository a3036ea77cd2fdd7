//! `read_messages`: a thread's messages after a number, in order, with the changes of the thread
//! that came between them.

use serde_json::{Value, json};
use understory_model::Caller;
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_storage::{messages, turns};

use super::said::{Form, lean, shown};
use super::{SCHEMA_VERSION, Turned, find, fitted};
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

pub fn read(
    view: &mut View<'_, '_>,
    caller: &Caller,
    handle: &str,
    stretch: Stretch,
    budget: &Budget,
) -> Result<Value> {
    let found = find(view, caller, handle)?;
    let Stretch { since, limit, full } = stretch;
    let mut rows = messages::after(view.tx, view.ws, found.row.id, since, limit + 1)?;
    let more = rows.len() as i64 > limit;
    rows.truncate(usize::try_from(limit).unwrap_or(0));
    let form = if full { Form::Full } else { Form::Brief };
    let items: Vec<Value> = rows
        .iter()
        .map(|(_, item)| shown(item, &caller.agent, form))
        .collect();
    let changes = turns::between(view.tx, view.ws, found.row.id, since, i64::MAX, CHANGES)?;
    let changes: Vec<Turned> = changes
        .iter()
        .map(|(turn, item)| Turned::of(turn, item))
        .collect();
    let page = |messages: &[Value], more: bool| {
        let last = messages.last().and_then(|last| last["seq"].as_i64());
        let last = last.unwrap_or(since);
        // What came after the last message of a page belongs to the next one.
        let told = changes.iter().filter(|one| !more || one.after_seq < last);
        let told: Vec<&Turned> = told.collect();
        let mut page = json!({
            "thread_id": found.handle(),
            "schema_version": SCHEMA_VERSION,
            "messages": messages,
            "next_seq": last,
            "has_more": more,
        });
        if !told.is_empty() {
            page["changes"] = json!(told);
        }
        page
    };
    let answer = fitted("messages", items.len(), budget, |kept| {
        page(&items[..kept], more || kept < items.len())
    });
    let Some(first) = items.first().filter(|_| answer["messages"] == json!([])) else {
        return Ok(answer);
    };
    let mut least = page(&[lean(first)], more || items.len() > 1);
    least["truncated"] = true.into();
    if let Some(fields) = least.as_object_mut() {
        fields.remove("changes");
    }
    Ok(if budget.holds(&least) { least } else { answer })
}
