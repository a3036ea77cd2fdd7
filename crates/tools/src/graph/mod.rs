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
