//! Tools that belong to no surface because they look across all of them.

pub mod scratchpad;
pub mod search;
pub mod who;

use crate::tool::Tool;

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    search::TOOL,
    who::TOOL,
    crate::garden::timeline::why::TOOL,
    scratchpad::TOOL,
    crate::sets::TOOLSET,
];
