//! The garden surface: everything that happened on one timeline, with its cause; what is believed,
//! version by version; and the conversations in which it came about.
//!
//! What is said here is items, never changed afterwards. Entities of every surface can be read
//! here, and only those that were made here can be changed here: each surface guards its own.

pub mod artifact;
pub mod conversation;
pub mod entity;
pub mod page;
pub mod projection;
pub mod reader;
pub mod relation;
pub mod shape;
pub mod shown;
pub mod system;
pub mod timeline;

pub use understory_model::fact::{Content, Mention};

pub use understory_model::kind::{
    ARTIFACT_CREATED, ARTIFACT_DELTA, CHANGES_ACK, CORRECTED, FOSSILIZED, FRAME_MOVED, NOTE,
    SYSTEM_EVENT, TOOL_CALL, UNDONE,
};

/// Item types that the server alone writes.
pub const OWN_TYPES: [&str; 16] = [
    "Item",
    "EntityDelta",
    "NoteEntry",
    "GraphDelta",
    "ReadAck",
    "TokenRevoked",
    crate::kinds::AUDIT_EVENT,
    ARTIFACT_CREATED,
    ARTIFACT_DELTA,
    UNDONE,
    CHANGES_ACK,
    FOSSILIZED,
    CORRECTED,
    FRAME_MOVED,
    SYSTEM_EVENT,
    crate::kinds::PURGED,
];

#[cfg(test)]
mod tests {
    use super::OWN_TYPES;
    use crate::kinds::OWN_KINDS;
    use crate::kinds::{EntityKind, ItemKind};

    #[test]
    fn no_kind_of_the_server_is_left_to_callers() {
        for name in OWN_KINDS {
            assert!(
                !matches!(EntityKind::of(name), EntityKind::Callers(_)),
                "{name}"
            );
        }
        // `Item` is the name of all of them, and none is written under it.
        for name in OWN_TYPES.into_iter().filter(|name| *name != "Item") {
            assert!(ItemKind::OWN.contains(&ItemKind::of(name)), "{name}");
        }
        assert_eq!(OWN_KINDS.len(), EntityKind::OWN.len());
    }
}
