//! `branchmind_notes_commit`: appends a note to a document.

use understory_model::error::{Fault, Result};

use super::notes::{self, Committed, Note, check_content};
use super::place::Place;
use crate::Work;

/// A note that says something.
#[derive(Debug, Clone)]
pub struct NewNote(Note);

impl TryFrom<Note> for NewNote {
    type Error = Fault;

    fn try_from(note: Note) -> Result<NewNote> {
        check_content(&note)?;
        Ok(NewNote(note))
    }
}

/// Appends and shows the note.
pub fn commit(work: &mut Work<'_, '_>, place: &Place, new: &NewNote) -> Result<Committed> {
    notes::commit(work, place, &new.0)
}
