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

use understory_model::Fault;

/// The fault for a node asked for before anything was ever written.
fn nothing_yet(node: &str) -> Fault {
    let shown: String = node.chars().take(80).collect();
    Fault::not_found(format!("no node {shown}: nothing is planned yet"))
        .hint("graph_plan makes nodes.")
}
