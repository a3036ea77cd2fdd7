//! Relations on the wire, one file a tool.

pub mod fossilize;
pub mod refs;
pub mod relate;
pub mod relations;

use crate::tool::Tool;

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[refs::TOOL, relate::TOOL, relations::TOOL, fossilize::TOOL];
