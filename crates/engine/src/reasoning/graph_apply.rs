//! `branchmind_graph_apply`: nodes and edges written and deleted, all or none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Seq;
use understory_model::error::{Fault, Result};

use super::place::Place;
use super::shape::millis;
use super::vertex::{EDGE, Graph, NODE, node_key};
use super::writing::{Edge, Node, change, check_id, write};
use crate::Work;
use crate::kernel::batch::check_batch;

/// One operation.
#[derive(Debug, Clone)]
pub enum Op {
    Node(Node),
    /// Only the fields that are given change.
    Change(Node),
    DropNode {
        id: String,
    },
    Edge(Edge),
    DropEdge(Edge),
}

/// Names the operation in a fault.
fn at<T>(index: usize, result: Result<T>) -> Result<T> {
    result.map_err(|mut fault| {
        fault.message = format!("ops[{index}].{}", fault.message);
        let field = fault
            .details
            .as_ref()
            .and_then(|details| details["field"].as_str());
        let field = format!("ops[{index}].{}", field.unwrap_or_default());
        fault.detail("field", field.trim_end_matches('.'))
    })
}

/// Operations that were checked, each by itself.
#[derive(Debug, Clone)]
pub struct Ops(Vec<Op>);

impl TryFrom<Vec<Op>> for Ops {
    type Error = Fault;

    fn try_from(ops: Vec<Op>) -> Result<Ops> {
        check_batch("ops", ops.len())?;
        for (index, op) in ops.iter().enumerate() {
            let checked = match op {
                Op::Node(node) => node.check(),
                Op::Change(node) if node.kind.is_empty() => node.check_fields(),
                Op::Change(node) => node.check(),
                Op::DropNode { id } => check_id(id),
                Op::Edge(edge) | Op::DropEdge(edge) => edge.check(),
            };
            at(index, checked)?;
        }
        Ok(Ops(ops))
    }
}

/// The answer of `branchmind_graph_apply`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Applied {
    pub branch: String,
    pub doc: String,
    pub applied: Counts,
    /// The last item that was written.
    pub last_seq: Seq,
    /// When, in milliseconds since 1970.
    pub last_ts_ms: i64,
    /// Said of a new document that has nearly the name of one that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// How much was written; edges that went with their nodes are counted too.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    pub nodes_upserted: i64,
    pub nodes_deleted: i64,
    pub edges_upserted: i64,
    pub edges_deleted: i64,
}

#[derive(Default)]
struct Done {
    counts: Counts,
    last: Seq,
}

pub fn apply(work: &mut Work<'_, '_>, place: &Place, Ops(ops): &Ops) -> Result<Applied> {
    let ws = work.ws();
    let graph = Graph::open(work.read()?, ws, place.clone())?;
    let warning = super::docs::near_miss(work.read()?, ws, place)?;
    let mut done = Done::default();
    for (index, op) in ops.iter().enumerate() {
        match op {
            Op::Node(node) => {
                let key = node_key(&node.id);
                let written = write(work, place, (NODE, &key), &node.state(), false, None);
                done.last = at(index, written)?;
                done.counts.nodes_upserted += 1;
            }
            Op::Change(node) => {
                let written = change(work, &graph, node);
                done.last = at(index, written)?;
                done.counts.nodes_upserted += 1;
            }
            Op::Edge(edge) => {
                let written = write(work, place, (EDGE, &edge.key()), &edge.state(), false, None);
                done.last = at(index, written)?;
                done.counts.edges_upserted += 1;
            }
            Op::DropEdge(edge) => {
                let what = format!("edge {} {} {}", edge.from, edge.rel, edge.to);
                done.last = delete(work, &graph, (EDGE, &edge.key()), index, &what)?;
                done.counts.edges_deleted += 1;
            }
            Op::DropNode { id } => drop_node(work, &graph, id, index, &mut done)?,
        }
    }
    Ok(Applied {
        branch: place.branch.clone(),
        doc: place.doc.clone(),
        applied: done.counts,
        last_seq: done.last,
        last_ts_ms: millis(work.now),
        warning,
    })
}

fn delete(
    work: &mut Work<'_, '_>,
    graph: &Graph,
    (kind, key): (&str, &str),
    index: usize,
    what: &str,
) -> Result<Seq> {
    match graph
        .one(work.read()?, key)?
        .filter(|vertex| !vertex.deleted)
    {
        Some(there) => {
            let state = super::vertex::state(&there);
            write(work, &graph.place, (kind, key), &state, true, None)
        }
        None => Err(
            Fault::not_found(format!("ops[{index}]: there is no {what}"))
                .detail("field", format!("ops[{index}]"))
                .hint("branchmind_graph_query shows what is there."),
        ),
    }
}

/// A node goes with its edges.
fn drop_node(
    work: &mut Work<'_, '_>,
    graph: &Graph,
    id: &str,
    index: usize,
    done: &mut Done,
) -> Result<()> {
    done.last = delete(
        work,
        graph,
        (NODE, &node_key(id)),
        index,
        &format!("node {id}"),
    )?;
    done.counts.nodes_deleted += 1;
    let mut edges = graph.edges_at(work.read()?, id)?;
    edges.retain(|edge| !edge.deleted);
    edges.sort_by(|a, b| a.key.cmp(&b.key));
    for edge in edges {
        let state = super::vertex::state(&edge);
        done.last = write(work, &graph.place, (EDGE, &edge.key), &state, true, None)?;
        done.counts.edges_deleted += 1;
    }
    Ok(())
}
