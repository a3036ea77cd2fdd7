//! The reasoning surface: branches of thought, documents on them, a typed graph, thinking cards.
//!
//! A document is named by a branch and a name; its entries are items of the log and are never
//! copied when a branch is made. What a branch shows is decided in [`lineage`]; where a call's
//! document is, in [`place`]. Notes are in [`notes`], graph documents in [`vertex`] and the files
//! that use it.

pub mod branch;
pub mod branch_create;
pub mod branch_list;
pub mod card;
pub mod card_text;
pub mod checkout;
pub mod commit;
pub mod conflict;
pub mod conflict_resolve;
pub mod conflict_show;
pub mod copies;
pub mod delta;
pub mod diff;
pub mod docs;
pub mod export;
pub mod graph_apply;
pub mod graph_conflicts;
pub mod graph_diff;
pub mod graph_merge;
pub mod graph_query;
pub mod graph_validate;
pub mod init;
pub mod lineage;
pub mod log;
pub mod merge;
pub mod notes;
pub mod notes_commit;
pub mod past;
pub mod place;
pub mod projection;
pub mod radar;
pub mod shape;
pub mod show;
pub mod status;
pub mod target;
pub mod think_card;
pub mod think_context;
pub mod think_next;
pub mod think_template;
pub mod vertex;
pub mod writing;

use understory_model::error::{Fault, Result};
use understory_model::limits;

/// The item types of this surface.
pub use understory_model::kind::{GRAPH_DELTA, NOTE_ENTRY};

/// Ids of nodes that only the server writes.
pub const RESERVED: [&str; 2] = ["task:", "step:"];

/// An id, a type or a relation: short, printable, and without the sign that joins keys.
pub fn check_word(field: &str, text: &str) -> Result<()> {
    understory_model::text::check_text(field, text, limits::NAME_CHARS, false)?;
    if let Some(c) = text.chars().find(|c| c.is_control() || *c == '|') {
        return Err(Fault::invalid(field, format!("has the character {c:?}"))
            .hint("Use printable characters other than `|`."));
    }
    if text.trim() != text {
        return Err(Fault::invalid(field, "has spaces at an end"));
    }
    Ok(())
}
