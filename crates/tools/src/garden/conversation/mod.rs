//! Conversations on the wire, one file a tool.

pub mod collapse;
pub mod fork;
pub mod frame;
pub mod log;
pub mod reopen;
pub mod stack;

use crate::tool::Tool;

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    fork::TOOL,
    log::TOOL,
    collapse::TOOL,
    reopen::TOOL,
    stack::TOOL,
    frame::TOOL,
];
