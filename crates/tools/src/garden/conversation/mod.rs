//! Conversations on the wire, one file a tool.

pub mod collapse;
pub mod fork;
pub mod frame;
pub mod log;
pub mod reopen;
pub mod stack;
