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
