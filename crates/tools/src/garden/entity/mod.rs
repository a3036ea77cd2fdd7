//! Entities on the wire, one file a tool.

pub mod changes;
pub mod changes_ack;
pub mod create;
pub mod history;
pub mod list;
pub mod revert;
pub mod supersede;
pub mod update;

use crate::tool::Tool;

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    create::TOOL,
    update::TOOL,
    history::TOOL,
    revert::TOOL,
    supersede::TOOL,
    list::TOOL,
    changes::TOOL,
    changes_ack::TOOL,
];
