//! The shared reader on the wire, one file a tool.

pub mod decide;
pub mod note;
pub mod proposals;
pub mod propose;
pub mod scroll;
pub mod search;
pub mod select;
