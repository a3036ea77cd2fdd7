//! MCP: what an agent's client speaks to Understory.
//!
//! One message's walk: `stdio` (the streams) → `lines` (one message a line) → `message` (what it
//! says) → `handler` (which request it is) → `crate::call` (a tool, run beside the others) → `reply`
//! → back. What a client is shown is in `listing`, `resources`, `handles` and `prompts`; what it is told of later in
//! `listening`, `notices` and `watched`.

mod board;
pub mod handler;
pub mod handles;
pub mod lines;
pub mod listening;
pub mod listing;
pub mod message;
mod named;
mod notices;
pub mod prompts;
mod reply;
pub mod resources;
pub mod stdio;
pub mod streams;
pub mod watched;
