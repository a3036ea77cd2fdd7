//! The threads surface on the wire, one file a tool.

pub mod ack;
pub mod create;
pub mod get;
pub mod heartbeat;
pub mod list;
pub mod post;
pub mod read;
pub mod status;
pub mod summarize;
pub mod trigger;
pub mod wait;
