//! What the engine promises, proved on both databases: one binary, one module a promise.

mod anchored;
mod artifact_steps;
mod clock;
mod common;
mod concurrency;
mod conversation_faults;
mod conversation_steps;
mod disks;
mod faults;
mod migration;
mod plans;
mod processes;
mod purge;
mod reasoning_steps;
mod record_steps;
mod replay;
mod revoked;
mod server;
mod statements;
mod stores;
mod tamper;
mod texts;
mod thread_sessions;
mod thread_steps;
mod watch;
mod workspaces;
