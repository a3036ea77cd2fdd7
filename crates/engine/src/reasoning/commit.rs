//! `branchmind_commit`: appends an entry with a message to any document.

use serde_json::{Map, Value};
use understory_model::error::{Fault, Result};
use understory_model::limits;
use understory_model::text::check_text;

use super::notes::{self, Committed, Note, check_content};
use super::place::Place;
use crate::Work;

/// An entry as a caller gives it.
#[derive(Debug, Clone)]
pub struct Entry {
    pub message: String,
    pub content: Option<String>,
    pub meta: Option<Map<String, Value>>,
}

/// An entry with a message; where it has content too, that says something.
#[derive(Debug, Clone)]
pub struct NewEntry(Note);

impl TryFrom<Entry> for NewEntry {
    type Error = Fault;

    fn try_from(entry: Entry) -> Result<NewEntry> {
        check_text("message", &entry.message, limits::LINE_CHARS, false)?;
        let has_content = entry.content.is_some();
        let note = Note {
            title: Some(entry.message),
            meta: entry.meta,
            content: entry.content.unwrap_or_default(),
            ..Note::default()
        };
        notes::check(&note)?;
        if has_content {
            check_content(&note)?;
        }
        Ok(NewEntry(note))
    }
}

/// Appends and shows the entry.
pub fn commit(work: &mut Work<'_, '_>, place: &Place, new: &NewEntry) -> Result<Committed> {
    notes::commit(work, place, &new.0)
}
