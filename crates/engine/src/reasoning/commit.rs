//! `branchmind_commit`: appends an entry with a message to any document.

use understory_model::error::Result;
use understory_model::limits;
use understory_model::text::check_text;

use super::notes::{self, Committed, Note, check_content};
use super::place::Place;
use crate::Work;

/// An entry with a message says at least that.
fn check_message(note: &Note) -> Result<()> {
    let message = note.title.as_deref().unwrap_or_default();
    check_text("message", message, limits::LINE_CHARS, false)?;
    notes::check(note)
}

/// An entry has a message; where it has content too, that says something.
pub fn check(note: &Note, has_content: bool) -> Result<()> {
    check_message(note)?;
    if has_content {
        check_content(note)
    } else {
        Ok(())
    }
}

/// Appends and shows the entry.
pub fn commit(work: &mut Work<'_, '_>, place: &Place, note: &Note) -> Result<Committed> {
    notes::commit(work, place, note)
}
