//! How records look in an answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::record::{RecordData, RecordState};
use understory_model::{Time, Ws};
use understory_storage::records::Record as Row;
use understory_storage::{ReadTx, entities};

use crate::kernel::content::record as stored;
use crate::kernel::core::Thing;

/// A record whole.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub summary: String,
    pub body: String,
    pub state: RecordState,
    pub parent_id: Option<String>,
    pub created: Time,
    pub modified: Time,
    /// Why it has its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The record that settled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Beside an activated record: what changed since the session saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<ChangedFields>,
}

/// Which fields of a record changed between two versions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFields {
    pub from_version: i64,
    pub to_version: i64,
    pub fields: Vec<String>,
}

/// A record that was written: whole, or as much as a caller that wants no echo is told.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Echo {
    Whole(Box<Record>),
    Head(Head),
}

/// The head of a record.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    pub id: String,
    pub title: String,
    pub state: RecordState,
    pub parent_id: Option<String>,
    pub modified: Time,
}

impl Echo {
    /// As much of the record as the caller wants to read again.
    #[must_use]
    pub fn echoed(self, echo: Option<bool>) -> Echo {
        match self {
            Echo::Whole(record) if echo == Some(false) => Echo::Head(Head {
                id: record.id,
                title: record.title,
                state: record.state,
                parent_id: record.parent_id,
                modified: record.modified,
            }),
            Echo::Whole(_) | Echo::Head(_) => self,
        }
    }

    pub fn id(&self) -> &str {
        match self {
            Echo::Whole(record) => &record.id,
            Echo::Head(head) => &head.id,
        }
    }

    pub fn title(&self) -> &str {
        match self {
            Echo::Whole(record) => &record.title,
            Echo::Head(head) => &head.title,
        }
    }

    pub fn state(&self) -> RecordState {
        match self {
            Echo::Whole(record) => record.state,
            Echo::Head(head) => head.state,
        }
    }
}

impl From<Record> for Echo {
    fn from(record: Record) -> Echo {
        Echo::Whole(Box::new(record))
    }
}

impl Record {
    /// A record as it is or as it was.
    pub fn new(
        data: RecordData,
        handle: &str,
        parent: Option<String>,
        (created, modified): (Time, Time),
    ) -> Record {
        Record {
            id: handle.to_string(),
            kind: data.kind,
            title: data.title,
            summary: data.summary,
            body: data.body,
            state: data.state,
            parent_id: parent,
            created,
            modified,
            reason: data.reason,
            resolved_by: data.resolved_by,
            related: data.related,
            metadata: data.metadata,
            changed: None,
        }
    }

    /// A record as it is, under the parent of this handle.
    pub fn of(thing: &Thing, parent: Option<&str>) -> Result<Record> {
        let times = (thing.entity.created_at, thing.entity.updated_at);
        let parent = parent.map(str::to_string);
        let (data, handle) = (stored::opened(thing)?, &thing.entity.handle);
        Ok(Record::new(data, handle, parent, times))
    }

    /// A record as it is, with its parent's handle looked up.
    pub fn placed(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing) -> Result<Record> {
        let parent = match thing.entity.parent {
            Some(parent) => entities::get(tx, ws, parent)?.map(|parent| parent.handle),
            None => None,
        };
        Record::of(thing, parent.as_deref())
    }
}

/// A record as lists show it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub summary: String,
    pub state: RecordState,
    pub parent_id: Option<String>,
    pub children_count: i64,
    pub open_children_count: i64,
    /// The beginning of why it has its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What core keeps of a record's texts for lists, as JSON; its fields are in the order in which core
/// has always had them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Brief {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default)]
    pub summary: String,
    #[serde(default)]
    pub title: String,
}

impl Reference {
    pub fn of(row: &Row) -> Reference {
        let brief: Brief = serde_json::from_str(&row.brief).unwrap_or_default();
        Reference {
            id: row.handle.clone(),
            kind: row.kind.clone(),
            title: brief.title,
            summary: brief.summary,
            state: row.state,
            parent_id: row.parent.clone(),
            children_count: row.children,
            open_children_count: row.open_children,
            reason: brief.reason,
        }
    }
}

pub fn references(rows: &[Row]) -> Vec<Reference> {
    rows.iter().map(Reference::of).collect()
}
