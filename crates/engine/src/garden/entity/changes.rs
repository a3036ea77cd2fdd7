//! `garden_changes`: what changed since an agent last looked, and how it says that it has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{Fit, Shape};
use understory_model::canon::{hex, sha256};
use understory_model::error::{Fault, Result};
use understory_model::id::entity_name;
use understory_model::item::Item;
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Id, Seq, Time, Ws};
use understory_storage::{ReadTx, artifacts, cursors, items, workspaces};

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

/// A place in what one filter lets through. A cursor knows its filter: acknowledging it says
/// nothing of what the filter kept from being seen.
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

/// The answer of `garden_changes`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    pub notifications: Vec<Notification>,
    /// How far this goes: for the next call, and for `garden_changes_ack`.
    pub cursor: String,
    /// Whether there is more to look through.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// Where each notification is in the log, and where the look began.
    #[serde(skip)]
    places: Vec<Seq>,
    #[serde(skip)]
    start: Seq,
    #[serde(skip)]
    filter: String,
}

impl Fit for Changes {
    const SHAPE: Shape = Shape::UnpagedRows {
        list: "notifications",
    };

    /// The next call goes on where this answer was cut.
    fn around(&self, kept: usize) -> Option<Changes> {
        let last = kept.checked_sub(1).and_then(|at| self.places.get(at));
        let cut = kept < self.notifications.len();
        let seq = last.copied().unwrap_or(self.start);
        let filter = self.filter.clone();
        Some(Changes {
            notifications: Vec::new(),
            cursor: if cut {
                Place { seq, filter }.encode()
            } else {
                self.cursor.clone()
            },
            more: self.more || cut,
            places: Vec::new(),
            start: self.start,
            filter: String::new(),
        })
    }
}

/// A change of an entity.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// `entity_<uuid>`.
    pub entity_uuid: Option<String>,
    pub entity_type: String,
    /// Its short name.
    pub handle: Option<String>,
    /// The hash of the version before, and of the one that the change made.
    pub old_hash: Option<String>,
    pub new_hash: String,
    pub version: i64,
    pub changed_at: Time,
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
                let said = Value::from_iter([types.into(), Value::from(project.clone())]);
                hex(&sha256(said.to_string().as_bytes())[..8])
            }
        }
    }
}

pub fn changes(view: &mut View<'_, '_>, caller: &Caller, asked: &Asked) -> Result<Changes> {
    let project = project::to_read(view, caller, asked.project.as_deref())?;
    let project = project.filter(|_| asked.project.is_some());
    let project = project.map(|project| project.id);
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
    let places = found.iter().map(|(seq, ..)| *seq).collect();
    Ok(Changes {
        notifications: named(tx, ws, found)?,
        cursor: Place {
            seq: after,
            filter: filter.clone(),
        }
        .encode(),
        more: after < end,
        places,
        start,
        filter,
    })
}

/// The notifications with the names of the entities that they are about.
fn named(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    found: Vec<(Seq, Id, Notification)>,
) -> Result<Vec<Notification>> {
    let entities: Vec<Id> = found.iter().map(|(_, entity, _)| *entity).collect();
    let names = items::uuids_of(tx, ws, &entities)?;
    let labels = artifacts::labels(tx, ws, &entities)?;
    let name = |(_, entity, mut notice): (Seq, Id, Notification)| {
        notice.entity_uuid = names.get(&entity).map(entity_name);
        if let Some(label) = labels.get(&entity) {
            notice.handle = Some(label.clone());
        }
        if notice.entity_type == LOG {
            notice.handle = names.get(&entity).map(log_name);
        }
        notice
    };
    Ok(found.into_iter().map(name).collect())
}

fn notification(item: &Item, types: &[String]) -> Result<Option<Notification>> {
    let Some(delta) = change_of(item)? else {
        return Ok(None);
    };
    if !types.is_empty() && !types.contains(&delta.kind) {
        return Ok(None);
    }
    Ok(Some(Notification {
        entity_uuid: None,
        entity_type: delta.kind,
        handle: Some(delta.handle),
        old_hash: delta.parent,
        new_hash: delta.commit,
        version: delta.version,
        changed_at: item.realized_at,
    }))
}
