//! The shared reader on the wire, one file a tool.

pub mod decide;
pub mod note;
pub mod proposals;
pub mod propose;
pub mod scroll;
pub mod search;
pub mod select;

use crate::tool::Tool;

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    search::TOOL,
    scroll::TOOL,
    select::TOOL,
    note::TOOL,
    propose::TOOL,
    proposals::TOOL,
    decide::TOOL,
];
