//! The edge of Understory: MCP, HTTP, the command line, configuration and identity.
//!
//! Everything that touches the terminal, the environment, the home directory or a socket is here
//! and nowhere else. It decides nothing about the product: it turns what arrives into a verified
//! `Caller` and a tool's name and arguments, and what comes back into an answer.

pub mod allowed;
pub mod call;
pub mod chats;
pub mod clash;
pub mod cli;
pub mod client;
pub mod config;
mod door;
pub mod embedding;
pub mod git;
pub mod hook;
pub mod http;
pub mod identity;
pub mod ids;
pub mod limiter;
pub mod log;
pub mod loopback;
pub mod managed;
pub mod mcp;
mod object;
pub mod origin;
pub mod owner;
pub mod pool;
pub mod process;
pub mod store;
pub mod token;
pub mod wake;
