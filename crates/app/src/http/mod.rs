//! HTTP: MCP at `/mcp`, every tool at `/v1/<tool>`, and what runs and describes them.
//!
//! One request's walk: `server` (the connection) → `guard` (its name, where it came from, the
//! headers of its answer) → `routes` → `auth` (who is calling: a token or a login, and nothing
//! else) → `v1` or `mcp` → the tool → back. Nothing here decides what a caller may do to what is
//! stored: that is said below, once for every edge.

pub mod audit;
pub mod auth;
pub mod care;
pub mod connections;
pub mod entities;
pub mod guard;
pub mod health;
pub mod held;
pub mod hosts;
pub mod login;
pub mod mcp;
pub mod metrics;
pub mod openapi;
pub mod page;
mod pages;
pub mod progress;
pub mod rate;
pub mod reply;
pub mod revoked;
pub mod routes;
pub mod server;
pub mod sessions;
pub mod signs;
pub mod state;
pub mod streams;
pub mod tls;
pub mod v1;
pub mod wellknown;
