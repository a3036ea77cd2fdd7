//! `graph_connect`: edges added and removed, each on its own.

use serde_json::{Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::item::LinkChange;
use understory_model::limits;
use understory_model::link::{PARENT, rule};
use understory_model::text::check_text;

use crate::Work;
use crate::graph::update::add_newly_actionable;
use crate::graph::{check_batch, cycle, find_to_change};
use crate::work::Edit;

/// An edge to add or to take away.
#[derive(Debug, Clone)]
pub struct Edge {
    pub from: String,
    pub to: String,
    pub kind: String,
    pub remove: bool,
}

pub fn connect(work: &mut Work<'_, '_>, edges: &[Edge]) -> Result<Value> {
    check_batch("edges", edges.len())?;
    for (index, edge) in edges.iter().enumerate() {
        check_text(
            &format!("edges[{index}].type"),
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
    let mut answer = json!({ "applied": applied });
    if !rejected.is_empty() {
        answer["rejected"] = rejected.into();
    }
    add_newly_actionable(work, &mut answer)?;
    Ok(answer)
}

/// Applies one edge, or says why not.
fn one(work: &mut Work<'_, '_>, edge: &Edge) -> Result<Option<Value>> {
    let refusal = |reason: &str| json!({ "from": edge.from, "to": edge.to, "reason": reason });
    let mut ends = Vec::with_capacity(2);
    for handle in [&edge.from, &edge.to] {
        match find_to_change(work, handle) {
            Ok(id) => ends.push(id),
            Err(Fault {
                code: Code::NotFound,
                details,
                ..
            }) => {
                let mut refusal = refusal("node_not_found");
                if let Some(into) = details.and_then(|more| more.get("merged_into").cloned()) {
                    refusal["merged_into"] = into;
                }
                return Ok(Some(refusal));
            }
            Err(fault) => return Err(fault),
        }
    }
    let (from, to) = (ends[0], ends[1]);
    let there = work.core.has_link(work.tx, from, &edge.kind, to)?;
    if edge.remove && !there {
        return Ok(Some(refusal("edge_not_found")));
    }
    if !edge.remove && there {
        return Ok(Some(refusal("duplicate_edge")));
    }
    if !edge.remove
        && rule(&edge.kind).acyclic
        && let Some(path) = cycle::closing(work, from, to)?
    {
        let mut refusal = refusal("cycle_detected");
        refusal["cycle"] = cycle::named(work, &path)?.into();
        return Ok(Some(refusal));
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
