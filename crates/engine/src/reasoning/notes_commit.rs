//! `branchmind_notes_commit`: appends a note to a document.

use understory_model::error::Result;

use super::notes::{self, Committed, Note, check_content};
use super::place::Place;
use crate::Work;

/// A note says something.
pub fn check(note: &Note) -> Result<()> {
    check_content(note)
}

/// Appends and shows the note.
pub fn commit(work: &mut Work<'_, '_>, place: &Place, note: &Note) -> Result<Committed> {
    notes::commit(work, place, note)
}
