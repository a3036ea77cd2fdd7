//! A message as it stands in the log.

use understory_model::fact::Fact;
pub use understory_model::fact::Message as Said;
use understory_model::item::Item;

/// What a message's item says; `None` if it is none or cannot be read.
pub fn said(item: &Item) -> Option<Said> {
    match Fact::read(item) {
        Ok(Fact::Message(said)) => Some(*said),
        _ => None,
    }
}
