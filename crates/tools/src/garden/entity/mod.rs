//! Entities on the wire, one file a tool.

pub mod changes;
pub mod changes_ack;
pub mod create;
pub mod history;
pub mod list;
pub mod revert;
pub mod supersede;
pub mod update;
