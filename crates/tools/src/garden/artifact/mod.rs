//! Artifacts on the wire, one file a tool.

pub mod commit;
pub mod create;
pub mod diff;
pub mod list;
pub mod log;
pub mod merge;
pub mod relabel;
pub mod show;

use crate::tool::Tool;

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    create::TOOL,
    commit::TOOL,
    show::TOOL,
    log::TOOL,
    diff::TOOL,
    merge::TOOL,
    relabel::TOOL,
    list::TOOL,
];
