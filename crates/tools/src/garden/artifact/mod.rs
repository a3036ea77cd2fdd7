//! Artifacts on the wire, one file a tool.

pub mod commit;
pub mod create;
pub mod diff;
pub mod list;
pub mod log;
pub mod merge;
pub mod relabel;
pub mod show;
