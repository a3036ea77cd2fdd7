//! The graph surface on the wire, one file a tool.

pub mod connect;
pub mod context;
pub mod history;
pub mod next;
pub mod onboard;
pub mod open;
pub mod plan;
pub mod query;
pub mod restructure;
pub mod update;

use crate::tool::Tool;

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    onboard::TOOL,
    open::TOOL,
    plan::TOOL,
    next::TOOL,
    context::TOOL,
    update::TOOL,
    connect::TOOL,
    query::TOOL,
    restructure::TOOL,
    history::TOOL,
];
