//! The reasoning surface: branches of thought, documents on them, a typed graph, thinking cards.
//!
//! A document is named by a branch and a name; its entries are items of the log and are never
//! copied when a branch is made. What a branch shows is decided in [`lineage`]; where a call's
//! document is, in [`place`]. Notes are in [`notes`], graph documents in [`vertex`] and the files
//! that use it.

pub mod apply;
pub mod branch;
pub mod card;
pub mod conflict;
pub mod export;
pub mod graph_diff;
pub mod graph_merge;
pub mod graph_query;
pub mod lineage;
pub mod merge;
pub mod next;
pub mod notes;
pub mod place;
pub mod think;
pub mod vertex;

use serde_json::Value;
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::limits;

/// The item types of this surface.
pub const NOTE_ENTRY: &str = "NoteEntry";
pub const GRAPH_DELTA: &str = "GraphDelta";

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

/// The largest answer of up to `count` rows that fits: `build` makes the answer with so many.
pub fn fitted(count: usize, budget: &Budget, build: impl Fn(usize, bool) -> Value) -> Value {
    let whole = build(count, false);
    if budget.holds(&whole) {
        return whole;
    }
    let (mut low, mut high) = (0, count.saturating_sub(1));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if budget.holds(&build(middle, true)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let cut = build(low, true);
    match low > 0 || budget.holds(&cut) {
        true => cut,
        false => bare(cut),
    }
}

/// What is left of an answer whose envelope alone is too long: its lists, empty.
fn bare(mut answer: Value) -> Value {
    if let Some(fields) = answer.as_object_mut() {
        fields.retain(|name, value| value.is_array() || name == "truncated");
    }
    answer
}
