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

use understory_engine::{Sought, missing};
use understory_model::Fault;

/// The fault for a node asked for before anything was ever written.
fn nothing_yet(node: &str) -> Fault {
    missing(Sought::Node, node, []).hint("Nothing is planned yet; graph_plan creates nodes.")
}
