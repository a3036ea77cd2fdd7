//! `graph_restructure`: nodes moved, merged and dropped, all of it or nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::json_of;
use understory_model::error::{Fault, Result};
use understory_model::item::{Gone, LinkChange, Place};
use understory_model::text::check_text;
use understory_model::{Id, limits};
use understory_storage::{entities, links, nodes};

use crate::Work;
use crate::graph::plan::too_deep;
use crate::graph::update::{newly_actionable, piece};
use crate::graph::{cycle, find_to_change};
use crate::kernel::batch::{at, check_batch, within};
use crate::kernel::content::brief::Brief;
use crate::kernel::content::node as fields;
use crate::kernel::content::node::CLAIM;
use crate::kernel::work::Edit;

/// One step of replanning.
#[derive(Debug, Clone)]
pub enum Operation {
    Move { node: String, parent: String },
    Merge { source: String, target: String },
    Drop { node: String, reason: String },
}

/// The answer of `graph_restructure`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Restructured {
    /// How many operations were done: all of them.
    pub applied: usize,
    pub details: Vec<Detail>,
    /// What this call made actionable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_actionable: Vec<Brief>,
}

// The kinds of operation; arguments name them too, and show no description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    Move,
    Merge,
    Drop,
}

/// What became of one operation.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Detail {
    pub op: Op,
    /// The node that was moved, merged away or dropped.
    pub node_id: String,
    pub result: String,
    /// What the target of a merge took from the source beside its children, edges and evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<String>,
    /// What the target of a merge did not take, by name; the history of the source has the values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
}

/// What the target of a merge took from the source, and what it did not.
#[derive(Debug, Default)]
struct Taken {
    taken: Vec<String>,
    dropped: Vec<String>,
}

pub fn restructure(work: &mut Work<'_, '_>, operations: &[Operation]) -> Result<Restructured> {
    check_batch("operations", operations.len())?;
    let mut details = Vec::with_capacity(operations.len());
    for (index, operation) in operations.iter().enumerate() {
        let place = format!("operations[{index}]");
        let mut taken = Taken::default();
        let (op, node, result) = match operation {
            Operation::Move { node, parent } => (
                Op::Move,
                node,
                within(&place, move_node(work, node, parent))?,
            ),
            Operation::Merge { source, target } => {
                taken = within(&place, merge(work, source, target))?;
                (Op::Merge, source, format!("merged into {target}"))
            }
            Operation::Drop { node, reason } => {
                check_text(format!("{place}.reason"), reason, limits::TEXT_CHARS, false)?;
                (
                    Op::Drop,
                    node,
                    within(&place, drop_node(work, node, reason))?,
                )
            }
        };
        details.push(Detail {
            op,
            node_id: node.clone(),
            result,
            taken: taken.taken,
            dropped: taken.dropped,
        });
    }
    Ok(Restructured {
        applied: details.len(),
        details,
        newly_actionable: newly_actionable(work)?,
    })
}

fn place_of(work: &mut Work<'_, '_>, id: Id) -> Result<nodes::Node> {
    work.node(id)?
        .cloned()
        .ok_or_else(|| Fault::not_found("a node is not in core").hint("Run `understory rebuild`."))
}

fn move_node(work: &mut Work<'_, '_>, handle: &str, parent: &str) -> Result<String> {
    let ws = work.ws();
    let id = at("node_id", find_to_change(work, handle))?;
    let to = at("new_parent", find_to_change(work, parent))?;
    let (node, above) = (place_of(work, id)?, place_of(work, to)?);
    let Some(from) = work.thing(id)?.entity.parent else {
        return Err(is_root("move", handle));
    };
    if node.project != above.project {
        return Err(other_project(handle, parent));
    }
    if above.path.starts_with(&node.path) {
        return Err(closes_tree(
            work,
            "new_parent",
            (&node, &above),
            MOVE_ELSEWHERE,
        )?);
    }
    if from == to {
        return Ok(format!("already under {parent}"));
    }
    if let Some(path) = cycle::closing(work, to, id)? {
        let path = cycle::named(work, &path)?;
        return Err(cycle::refused("new_parent", &path, MOVE_ELSEWHERE));
    }
    let deepest = nodes::deepest(work.read()?, ws, &node.path)?.unwrap_or(node.depth);
    if deepest - node.depth + above.depth + 1 >= limits::GRAPH_DEPTH {
        return Err(too_deep(handle));
    }
    let place = Some(Place {
        from: Some(work.named(from)?),
        to: Some(work.named(to)?),
    });
    work.change(
        id,
        Edit {
            action: "moved",
            place,
            ..Edit::default()
        },
    )?;
    Ok(format!("moved under {parent}"))
}

fn is_root(verb: &str, handle: &str) -> Fault {
    Fault::conflict(format!(
        "{handle} is the root of its project: it cannot {verb}"
    ))
    .hint("Name one of the nodes below it.")
}

fn other_project(one: &str, other: &str) -> Fault {
    Fault::conflict(format!("{one} and {other} belong to different projects"))
        .hint("A node stays in its project; plan a new one there and link the two.")
}

const MOVE_ELSEWHERE: &str = "A node waits for what is below it and for what it depends on. Move it \
                              elsewhere, or remove one of these dependencies first.";
const MERGE_OTHERS: &str = "Merge the other way round, or remove one of these links first.";

/// The refusal of a place below oneself, with the path from the node down to it.
fn closes_tree(
    work: &mut Work<'_, '_>,
    field: &str,
    (node, above): (&nodes::Node, &nodes::Node),
    hint: &str,
) -> Result<Fault> {
    let ids = understory_model::id::path_ids(&above.path).unwrap_or_default();
    let mut path = Vec::new();
    for id in ids
        .into_iter()
        .skip(usize::try_from(node.depth).unwrap_or(0))
    {
        path.push(work.named(id)?.handle);
    }
    path.push(work.named(node.id)?.handle);
    Ok(cycle::refused(field, &path, hint))
}

fn merge(work: &mut Work<'_, '_>, source: &str, target: &str) -> Result<Taken> {
    let from = at("source", find_to_change(work, source))?;
    let into = at("target", find_to_change(work, target))?;
    if from == into {
        return Err(
            Fault::invalid("target", "is the source itself").hint("Merge two different nodes.")
        );
    }
    let (old, new) = (place_of(work, from)?, place_of(work, into)?);
    if work.thing(from)?.entity.parent.is_none() {
        return Err(is_root("be merged away", source));
    }
    if old.project != new.project {
        return Err(other_project(source, target));
    }
    if new.path.starts_with(&old.path) {
        return Err(closes_tree(work, "target", (&old, &new), MERGE_OTHERS)?);
    }
    move_children(work, from, into, new.depth)?;
    let outgoing = move_links(work, from, into)?;
    let taken = take_over(work, from, into, outgoing)?;
    forget(work, from, into)?;
    match cycle::through(work, into)? {
        None => Ok(taken),
        Some(path) => {
            let path = cycle::named(work, &path)?;
            Err(cycle::refused("target", &path, MERGE_OTHERS))
        }
    }
}

fn move_children(work: &mut Work<'_, '_>, from: Id, into: Id, depth: i64) -> Result<()> {
    let ws = work.ws();
    let children = entities::children(work.read()?, ws, from, i64::MAX)?;
    for child in children {
        let node = place_of(work, child.id)?;
        let deepest = nodes::deepest(work.read()?, ws, &node.path)?.unwrap_or(node.depth);
        if deepest - node.depth + depth + 1 >= limits::GRAPH_DEPTH {
            return Err(too_deep(&child.handle));
        }
        let place = Some(Place {
            from: Some(work.named(from)?),
            to: Some(work.named(into)?),
        });
        work.change(
            child.id,
            Edit {
                action: "moved",
                place,
                ..Edit::default()
            },
        )?;
    }
    Ok(())
}

/// Hands the source's edges over: those that reach it are changed where they start; those that
/// leave it are answered, for the target to take.
fn move_links(work: &mut Work<'_, '_>, from: Id, into: Id) -> Result<Vec<(String, Id)>> {
    let ws = work.ws();
    // Every one of them, however many: one left behind would lead to a node that is gone.
    let incoming = links::incoming(work.read()?, ws, from, i64::MAX)?;
    let outgoing = links::outgoing(work.read()?, ws, from, i64::MAX)?;
    let (gone, kept) = (work.named(from)?, work.named(into)?);
    for link in incoming {
        let source = link.entity.id;
        if source == from {
            continue; // an edge to itself goes with it
        }
        let change = |to, remove| LinkChange {
            relation: link.relation.clone(),
            to,
            remove,
        };
        let mut changes = vec![change(gone.clone(), true)];
        let has = work.has_link(source, &link.relation, into)?;
        if source != into && !has {
            changes.push(change(kept.clone(), false));
        }
        work.change(
            source,
            Edit {
                action: "updated",
                links: changes,
                ..Edit::default()
            },
        )?;
    }
    Ok(outgoing
        .into_iter()
        .map(|link| (link.relation, link.entity.id))
        .collect())
}

/// The target's own new version: the source's evidence and links after its own, the source's
/// properties and state where it has none, and the source's edges.
fn take_over(
    work: &mut Work<'_, '_>,
    from: Id,
    into: Id,
    outgoing: Vec<(String, Id)>,
) -> Result<Taken> {
    let mut released = Vec::new();
    for (relation, id) in &outgoing {
        let to = work.named(*id)?;
        released.push(LinkChange {
            relation: relation.clone(),
            to,
            remove: true,
        });
    }
    if !released.is_empty() {
        work.change(
            from,
            Edit {
                action: "merged",
                links: released,
                ..Edit::default()
            },
        )?;
    }
    let mut added = Vec::new();
    for (relation, id) in outgoing {
        if id == into || id == from || work.has_link(into, &relation, id)? {
            continue;
        }
        added.push(LinkChange {
            relation,
            to: work.named(id)?,
            remove: false,
        });
    }
    let source = work.thing(from)?.data.clone();
    let mut data = work.thing(into)?.data.clone();
    let taken = fill(&mut data, &source);
    let reason = Some(format!("{} was merged into this", work.named(from)?.handle));
    let edit = Edit {
        action: "merged",
        data: Some(data),
        links: added,
        reason,
        ..Edit::default()
    };
    work.change(into, edit)?;
    Ok(taken)
}

/// Puts into a node's value what another has and it has not.
fn fill(data: &mut Map<String, Value>, source: &Map<String, Value>) -> Taken {
    let mut told = Taken::default();
    let list = |name: &str| {
        source
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    if let Some(own) = data.get_mut("evidence").and_then(Value::as_array_mut) {
        own.extend(list("evidence").cloned());
    }
    if let Some(own) = data.get_mut("context_links").and_then(Value::as_array_mut) {
        let before = own.len();
        for link in list("context_links") {
            if !own.contains(link) && own.len() < limits::LIST_LEN {
                own.push(link.clone());
            }
        }
        if own.len() > before {
            told.taken.push("context_links".into());
        }
    }
    told.dropped.push("summary".into());
    match (source.get("state"), data.get("state")) {
        (Some(state), None) => {
            data.insert("state".into(), state.clone());
            told.taken.push("state".into());
        }
        (Some(theirs), Some(own)) if theirs != own => told.dropped.push("state".into()),
        _ => {}
    }
    if fields::claim(source).is_some() {
        told.dropped.push("claim".into());
    }
    if let Some(own) = fields::properties_mut(data) {
        let theirs = fields::properties(source);
        for (name, value) in theirs.filter(|(name, _)| !CLAIM.contains(&name.as_str())) {
            let named = format!("properties.{name}");
            match own.get(name) {
                None if own.len() < limits::PROPERTIES => {
                    own.insert(name.clone(), value.clone());
                    told.taken.push(named);
                }
                Some(same) if same == value => {}
                _ => told.dropped.push(named),
            }
        }
    }
    told
}

fn forget(work: &mut Work<'_, '_>, from: Id, into: Id) -> Result<()> {
    let gone = Some(Gone {
        into: Some(work.named(into)?),
    });
    work.change(
        from,
        Edit {
            action: "merged",
            gone,
            ..Edit::default()
        },
    )?;
    Ok(())
}

/// Closes a node and everything open below it, deepest first, each with the reason.
fn drop_node(work: &mut Work<'_, '_>, handle: &str, reason: &str) -> Result<String> {
    let ws = work.ws();
    let id = at("node_id", find_to_change(work, handle))?;
    let path = place_of(work, id)?.path;
    let mut ids = nodes::open_below(work.read()?, ws, &path)?;
    ids.reverse();
    ids.push(id);
    let count = ids.len();
    for id in ids {
        let mut data = work.thing(id)?.data.clone();
        data.insert("resolved".into(), true.into());
        data.insert(fields::DROPPED.into(), true.into());
        let dropped = piece(work, fields::DROPPED, reason);
        if let Some(evidence) = fields::list_mut(&mut data, fields::EVIDENCE) {
            evidence.push(json_of(&dropped)?);
        }
        let reason = Some(reason.to_string());
        work.change(
            id,
            Edit {
                action: "dropped",
                data: Some(data),
                reason,
                ..Edit::default()
            },
        )?;
    }
    Ok(match count {
        1 => "dropped".to_string(),
        _ => format!("dropped with {} below it", count - 1),
    })
}
