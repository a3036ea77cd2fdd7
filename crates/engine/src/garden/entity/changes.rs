//! `garden_changes`: what changed since an agent last looked, and how it says that it has.

use serde_json::{Value, json};
use understory_model::budget::{Budget, Drop, fit_list};
use understory_model::canon::{hex, sha256};
use understory_model::error::{Fault, Result};
use understory_model::id::entity_name;
use understory_model::item::Item;
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Id, Seq};
use understory_storage::{artifacts, cursors, items, workspaces};

use crate::View;
use crate::kernel::access::Reader;
use crate::kernel::project;
use crate::kernel::titles::log_name;
use crate::kernel::versions::change_of;
use crate::kinds::LOG;

const CURSOR: &str = "garden.changes";
/// The stream whose cursor an agent keeps.
pub const STREAM: &str = "changes";
/// Items looked at in one call: what is filtered out costs time too.
const LOOKED_AT: i64 = 20_000;
const CHUNK: i64 = 500;

/// A place in what one filter lets through. A cursor knows its filter: acknowledging it says nothing
/// of what the filter kept from being seen.
pub(super) struct Place {
    pub seq: Seq,
    pub filter: String,
}

impl Place {
    pub fn encode(&self) -> String {
        let keys = vec![Key::from(self.seq), Key::Text(self.filter.clone())];
        Cursor::new(CURSOR, keys).encode()
    }

    pub fn decode(field: &str, text: &str) -> Result<Place> {
        let decoded = Cursor::decode(text, CURSOR).and_then(|cursor| {
            Ok(Place {
                seq: cursor.int(0)?,
                filter: cursor.text(1)?.to_string(),
            })
        });
        let known = |place: &Place| place.filter.len() <= 16 && !place.filter.contains('\0');
        decoded.ok().filter(known).ok_or_else(|| {
            Fault::invalid(field, "is not a cursor of garden_changes")
                .hint("Use the cursor that garden_changes answered with.")
        })
    }
}

/// The stream in which an agent keeps how far it has dealt with what a filter lets through.
pub(super) fn stream(filter: &str) -> String {
    match filter {
        "" => STREAM.to_string(),
        filter => format!("{STREAM}:{filter}"),
    }
}

/// The answer before the workspace's first write.
pub fn nothing(asked: &Asked) -> Value {
    let filter = asked.filter();
    json!({ "notifications": [], "cursor": Place { seq: Seq::ZERO, filter }.encode() })
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub since: Option<String>,
    pub entity_types: Vec<String>,
    /// Every project's, where none is named.
    pub project: Option<String>,
    pub limit: i64,
}

impl Asked {
    /// What tells one filter from another; empty where all is let through.
    fn filter(&self) -> String {
        let mut types = self.entity_types.clone();
        types.sort_unstable();
        types.dedup();
        match (types.is_empty(), &self.project) {
            (true, None) => String::new(),
            (_, project) => {
                let said = json!([types, project]).to_string();
                hex(&sha256(said.as_bytes())[..8])
            }
        }
    }
}

pub fn changes(
    view: &mut View<'_, '_>,
    caller: &Caller,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let project = match &asked.project {
        Some(named) => project::to_read(view, caller, Some(named))?.map(|project| project.id),
        None => None,
    };
    let (tx, ws) = (&mut *view.tx, view.ws);
    let filter = asked.filter();
    let start = match &asked.since {
        Some(since) => Place::decode("since", since)?.seq,
        None => {
            // Who has dealt with everything has dealt with what a filter lets through.
            let all = cursors::get(tx, ws, &caller.agent, STREAM)?;
            all.max(cursors::get(tx, ws, &caller.agent, &stream(&filter))?)
        }
    };
    let cursor = |seq: Seq| {
        let filter = filter.clone();
        Place { seq, filter }.encode()
    };
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let mut reader = Reader::new(caller);
    let (mut after, mut found) = (start, Vec::new());
    'looking: while after < start + LOOKED_AT {
        let batch = items::after(tx, ws, after, CHUNK)?;
        if batch.is_empty() {
            break;
        }
        for item in batch {
            let here = asked.project.is_none() || (project.is_some() && item.project == project);
            if here
                && let Some(notice) = notification(&item, &asked.entity_types)?
                && reader.item(tx, ws, &item)?
            {
                found.push((item.seq, item.entity.unwrap_or_default(), notice));
            }
            after = item.seq;
            if found.len() == most {
                break 'looking;
            }
        }
    }
    let end = workspaces::head(tx, ws, false)?.map_or(Seq::ZERO, |head| head.seq);
    let entities: Vec<Id> = found.iter().map(|(_, entity, _)| *entity).collect();
    let names = items::uuids_of(tx, ws, &entities)?;
    let labels = artifacts::labels(tx, ws, &entities)?;
    for (_, entity, notice) in &mut found {
        notice["entity_uuid"] = names.get(entity).map(entity_name).into();
        if let Some(label) = labels.get(entity) {
            notice["handle"] = label.clone().into();
        }
        if notice["entity_type"] == LOG {
            notice["handle"] = names.get(entity).map(log_name).into();
        }
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
