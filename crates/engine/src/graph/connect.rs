//! `graph_connect`: edges added and removed, each on its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::error::{Code, Fault, Result};
use understory_model::item::LinkChange;
use understory_model::limits;
use understory_model::link::{PARENT, rule};
use understory_model::text::check_text;

use crate::Work;
use crate::graph::update::newly_actionable;
use crate::graph::{cycle, find_to_change};
use crate::kernel::batch::check_batch;
use crate::kernel::content::brief::Brief;
use crate::kernel::work::Edit;

/// An edge to add or to take away.
#[derive(Debug, Clone)]
pub struct Edge {
    pub from: String,
    pub to: String,
    pub kind: String,
    pub remove: bool,
}

/// The answer of `graph_connect`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Connected {
    /// How many edges were added or removed.
    pub applied: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejected>,
    /// What this call made actionable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_actionable: Vec<Brief>,
}

/// An edge that was not applied.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rejected {
    pub from: String,
    pub to: String,
    pub reason: Refusal,
    /// What the node that was not found was merged into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<String>,
    /// The nodes that would wait for each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<String>,
}

/// Why an edge was not applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    NodeNotFound,
    EdgeNotFound,
    DuplicateEdge,
    CycleDetected,
}

pub fn connect(work: &mut Work<'_, '_>, edges: &[Edge]) -> Result<Connected> {
    check_batch("edges", edges.len())?;
    for (index, edge) in edges.iter().enumerate() {
        check_text(
            format!("edges[{index}].type"),
            &edge.kind,
            limits::NAME_CHARS,
            false,
        )?;
        if edge.kind == PARENT {
            return Err(Fault::invalid(
                format!("edges[{index}].type"),
                "`parent` is a node's place in the tree, not an edge",
            )
            .hint("Use graph_restructure with op move."));
        }
    }
    let (mut applied, mut rejected) = (0, Vec::new());
    for edge in edges {
        match one(work, edge)? {
            None => applied += 1,
            Some(refusal) => rejected.push(refusal),
        }
    }
    Ok(Connected {
        applied,
        rejected,
        newly_actionable: newly_actionable(work)?,
    })
}

/// Applies one edge, or says why not.
fn one(work: &mut Work<'_, '_>, edge: &Edge) -> Result<Option<Rejected>> {
    let rejected = |reason| Rejected {
        from: edge.from.clone(),
        to: edge.to.clone(),
        reason,
        merged_into: None,
        cycle: Vec::new(),
    };
    let mut ends = Vec::with_capacity(2);
    for handle in [&edge.from, &edge.to] {
        match find_to_change(work, handle) {
            Ok(id) => ends.push(id),
            Err(Fault {
                code: Code::NotFound,
                details,
                ..
            }) => {
                let into = details.as_ref().and_then(|more| more.get("merged_into"));
                return Ok(Some(Rejected {
                    merged_into: into.and_then(Value::as_str).map(str::to_string),
                    ..rejected(Refusal::NodeNotFound)
                }));
            }
            Err(fault) => return Err(fault),
        }
    }
    let (from, to) = (ends[0], ends[1]);
    let there = work.has_link(from, &edge.kind, to)?;
    if edge.remove && !there {
        return Ok(Some(rejected(Refusal::EdgeNotFound)));
    }
    if !edge.remove && there {
        return Ok(Some(rejected(Refusal::DuplicateEdge)));
    }
    if !edge.remove
        && rule(&edge.kind).acyclic
        && let Some(path) = cycle::closing(work, from, to)?
    {
        return Ok(Some(Rejected {
            cycle: cycle::named(work, &path)?,
            ..rejected(Refusal::CycleDetected)
        }));
    }
    let to = work.named(to)?;
    let links = vec![LinkChange {
        relation: edge.kind.clone(),
        to,
        remove: edge.remove,
    }];
    work.change(
        from,
        Edit {
            action: "updated",
            links,
            ..Edit::default()
        },
    )?;
    Ok(None)
}
