//! `garden_changes`: what changed since an agent last looked, and how it says that it has.

use serde_json::{Value, json};
use understory_model::budget::{Budget, Drop, fit_list};
use understory_model::error::{Fault, Result};
use understory_model::id::entity_name;
use understory_model::item::Item;
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Seq};
use understory_storage::{cursors, items, workspaces};

use super::CHANGES_ACK;
use crate::versions::change_of;
use crate::{View, Work};

const CURSOR: &str = "garden.changes";
/// The stream whose cursor an agent keeps.
pub const STREAM: &str = "changes";
/// Items looked at in one call: what is filtered out costs time too.
const LOOKED_AT: i64 = 20_000;
const CHUNK: i64 = 500;

fn cursor(seq: Seq) -> String {
    Cursor::new(CURSOR, vec![Key::Int(seq)]).encode()
}

fn place(field: &str, text: &str) -> Result<Seq> {
    let decoded = Cursor::decode(text, CURSOR).and_then(|cursor| cursor.int(0));
    decoded.map_err(|_| {
        Fault::invalid(field, "is not a cursor that garden_changes gave")
            .hint("Leave it out to begin where you last acknowledged.")
    })
}

/// The answer before the workspace's first write.
pub fn nothing() -> Value {
    json!({ "notifications": [], "cursor": cursor(0) })
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub since: Option<String>,
    pub entity_types: Vec<String>,
    pub limit: i64,
}

pub fn changes(
    view: &mut View<'_, '_>,
    caller: &Caller,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let (tx, ws) = (&mut *view.tx, view.ws);
    let start = match &asked.since {
        Some(since) => place("since", since)?,
        None => cursors::get(tx, ws, &caller.agent, STREAM)?,
    };
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let (mut after, mut found) = (start, Vec::new());
    'looking: while after < start.saturating_add(LOOKED_AT) {
        let batch = items::after(tx, ws, after, CHUNK)?;
        if batch.is_empty() {
            break;
        }
        for item in batch {
            if let Some(notice) = notification(&item, &asked.entity_types)? {
                found.push((item.seq, item.entity.unwrap_or_default(), notice));
            }
            after = item.seq;
            if found.len() == most {
                break 'looking;
            }
        }
    }
    let end = workspaces::head(tx, ws, false)?.map_or(0, |head| head.seq);
    let entities: Vec<Seq> = found.iter().map(|(_, entity, _)| *entity).collect();
    let names = items::uuids(tx, ws, &entities)?;
    for (_, entity, notice) in &mut found {
        notice["entity_uuid"] = names.get(entity).map(entity_name).into();
    }
    let (seqs, shown): (Vec<Seq>, Vec<Value>) = found
        .into_iter()
        .map(|(seq, _, notice)| (seq, notice))
        .unzip();
    let mut answer = json!({ "notifications": shown, "cursor": cursor(after) });
    if after < end {
        answer["more"] = true.into();
    }
    let mut fitted = fit_list(answer, "notifications", budget, Drop::Last);
    let kept = fitted["notifications"].as_array().map_or(0, Vec::len);
    if kept < seqs.len() {
        // The next call takes up where this one was cut.
        let last = kept.checked_sub(1).and_then(|at| seqs.get(at)).copied();
        fitted["cursor"] = cursor(last.unwrap_or(start)).into();
        fitted["more"] = true.into();
    }
    Ok(fitted)
}

fn notification(item: &Item, types: &[String]) -> Result<Option<Value>> {
    let Some(delta) = change_of(item)? else {
        return Ok(None);
    };
    if !types.is_empty() && !types.contains(&delta.kind) {
        return Ok(None);
    }
    Ok(Some(json!({
        "entity_type": delta.kind,
        "handle": delta.handle,
        "old_hash": delta.parent,
        "new_hash": delta.commit,
        "version": delta.version,
        "changed_at": item.realized_at.to_string(),
    })))
}

/// Says that the caller has dealt with what came up to a cursor.
pub fn ack(work: &mut Work<'_, '_>, upto: &str) -> Result<Value> {
    let (seq, ws) = (place("cursor", upto)?, work.ws());
    if seq >= work.next_seq() || seq < 0 {
        return Err(Fault::invalid("cursor", "lies beyond the end of the log"));
    }
    let agent = work.caller.agent.clone();
    let before = cursors::get(work.tx, ws, &agent, STREAM)?;
    if seq > before {
        work.note(CHANGES_ACK, None, &json!({ "seq": seq }))?;
    }
    Ok(json!({ "cursor": cursor(seq.max(before)) }))
}
