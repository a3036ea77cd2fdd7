//! `graph_context`: a node, what is above and below it, and what it waits for.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{self, Answer, Fit, Shape, Step};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::link::DEPENDS_ON;
use understory_model::{Id, limits};
use understory_storage::entities::{self, Entity};
use understory_storage::links::{self, Around, Linked};

use crate::View;
use crate::graph::find_surviving;
use crate::graph::shape::{self, Node};
use crate::kernel::content::node as fields;
use crate::kernel::content::node::Evidence;
use crate::kernel::core::Thing;

/// The answer of `graph_context`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    pub node: Node,
    /// The name that was asked for, which was merged into this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_from: Option<String>,
    /// Root first.
    pub ancestors: Vec<Known>,
    /// The node again, with what is below it.
    pub children: Branch,
    pub depends_on: Vec<Dependency>,
    pub depended_by: Vec<Dependency>,
    /// The edges of every other type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<Vec<Edge>>,
    /// There is more than is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Fit for Context {
    const SHAPE: Shape = Shape::Steps {
        steps: &[
            Step::Last {
                list: "/edges",
                but: 0,
            },
            Step::Last {
                list: "/depended_by",
                but: 0,
            },
            Step::Last {
                list: "/depends_on",
                but: 0,
            },
            Step::Last {
                list: "/ancestors",
                but: 0,
            },
        ],
        rest: &Shape::Fields(&["/node/id", "/node/rev", "/node/resolved"]),
    };
}

/// A node in a line, and whether it is closed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Known {
    pub id: String,
    pub summary: String,
    pub resolved: bool,
}

impl Known {
    fn of(thing: &Thing) -> Known {
        Known {
            id: thing.entity.handle.clone(),
            summary: fields::summary(&thing.data).to_string(),
            resolved: fields::resolved(&thing.data),
        }
    }
}

/// A node with what is below it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    pub id: String,
    pub summary: String,
    pub resolved: bool,
    /// It was closed by dropping it, not by doing it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
    /// Whatever its owner defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// How many children it has, where not all of them are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_count: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub children: Vec<Branch>,
}

/// A node on one side of a dependency.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Dependency {
    pub node: Neighbour,
    pub satisfied: bool,
}

/// A node as its neighbours see it: what it says and what was done, without its place, who made it
/// and when. Two neighbours whole would take more room than the node that was asked for.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Neighbour {
    pub id: String,
    pub rev: i64,
    pub summary: String,
    pub resolved: bool,
    /// It was closed by dropping it, not by doing it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
    /// Whatever its owner defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    pub properties: Map<String, Value>,
    pub context_links: Vec<String>,
    pub evidence: Vec<Evidence>,
}

impl From<Node> for Neighbour {
    fn from(node: Node) -> Neighbour {
        Neighbour {
            id: node.id,
            rev: node.rev,
            summary: node.summary,
            resolved: node.resolved,
            dropped: node.dropped,
            state: node.state,
            properties: node.properties,
            context_links: node.context_links,
            evidence: node.evidence,
        }
    }
}

/// An edge that orders no work.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    #[serde(rename = "type")]
    pub kind: String,
    pub direction: Direction,
    pub node: Known,
}

/// Which way an edge goes from the node that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Out,
    In,
}

/// The whole neighbourhood, made smaller step by step until it fits the budget.
pub fn context(
    view: &mut View<'_, '_>,
    handle: &str,
    depth: i64,
    budget: &Budget,
) -> Result<Answer<Context>> {
    let thing = Thing::open(find_surviving(view, handle)?)?;
    let above = shape::ancestors(view.tx, view.ws, &thing.entity)?;
    let parent = above.last().map(|parent| parent.entity.handle.as_str());
    let id = thing.entity.id;
    let count = child_counts(view, &[&thing])?.get(&id).copied();
    let (count, mut left) = (count.unwrap_or(0), limits::CONTEXT_ROWS);
    let children = tree(view, &thing, count, depth, &mut left)?;
    let Around { to, from, others } =
        links::around(view.tx, view.ws, id, DEPENDS_ON, limits::CONTEXT_ROWS + 1)?;
    let more = [to.len(), from.len(), others.len()].map(|all| all as i64 > limits::CONTEXT_ROWS);
    // Those that wait for this node are satisfied when it is resolved.
    let own = Some(fields::resolved(&thing.data));
    let mut context = Context {
        node: Node::new(&thing, parent),
        merged_from: Some(handle.to_string()).filter(|_| thing.entity.handle != handle),
        ancestors: above.iter().map(Known::of).collect(),
        children,
        depends_on: dependencies(to, None)?,
        depended_by: dependencies(from, own)?,
        edges: edges(others)?,
        truncated: left < 0 || more.contains(&true),
    };
    // A shallower tree is read anew: what it shows of each node depends on what is below it.
    let mut shallower = depth;
    while !budget.holds_serialized(&context) {
        if shallower == 0 {
            return answer::fit(context, budget);
        }
        shallower -= 1;
        left = limits::CONTEXT_ROWS;
        context.children = tree(view, &thing, count, shallower, &mut left)?;
        context.truncated = true;
    }
    Ok(Answer::Whole(context))
}

fn child_counts(view: &mut View<'_, '_>, things: &[&Thing]) -> Result<HashMap<Id, i64>> {
    let ids: Vec<Id> = things.iter().map(|thing| thing.entity.id).collect();
    entities::child_counts(view.tx, view.ws, &ids)
}

/// A node, its `count` children and what is below those, `depth` levels down; what lies deeper is
/// counted. `left` bounds how many nodes the whole tree may hold, and goes below zero when it would
/// hold more.
fn tree(
    view: &mut View<'_, '_>,
    thing: &Thing,
    count: i64,
    depth: i64,
    left: &mut i64,
) -> Result<Branch> {
    let mut branch = Branch {
        id: thing.entity.handle.clone(),
        summary: fields::summary(&thing.data).to_string(),
        resolved: fields::resolved(&thing.data),
        dropped: fields::dropped(&thing.data),
        state: thing.data.get("state").cloned(),
        child_count: None,
        children: Vec::new(),
    };
    if count == 0 {
        return Ok(branch);
    }
    if depth == 0 || *left <= 0 {
        if depth > 0 {
            *left = -1;
        }
        branch.child_count = Some(count);
        return Ok(branch);
    }
    let most = (*left).min(count);
    *left -= count;
    branch.child_count = Some(count).filter(|_| most < count);
    let children = entities::children(view.tx, view.ws, thing.entity.id, most)?;
    let children = children
        .into_iter()
        .map(Thing::open)
        .collect::<Result<Vec<Thing>>>()?;
    let counts = child_counts(view, &children.iter().collect::<Vec<_>>())?;
    for child in &children {
        let count = counts.get(&child.entity.id).copied().unwrap_or(0);
        let below = tree(view, child, count, depth - 1, left)?;
        branch.children.push(below);
    }
    Ok(branch)
}

/// The edges of every other type.
fn edges(others: Vec<(Linked, bool)>) -> Result<Option<Vec<Edge>>> {
    if others.is_empty() {
        return Ok(None);
    }
    let shown = others.into_iter().take(limits::CONTEXT_ROWS as usize);
    shown
        .map(|(linked, leads)| {
            Ok(Edge {
                kind: linked.relation,
                direction: if leads { Direction::Out } else { Direction::In },
                node: Known::of(&Thing::open(linked.entity)?),
            })
        })
        .collect::<Result<_>>()
        .map(Some)
}

/// One side of the dependencies. Each is satisfied as `satisfied` says, or when it is resolved
/// itself.
fn dependencies(linked: Vec<Entity>, satisfied: Option<bool>) -> Result<Vec<Dependency>> {
    let shown = linked.into_iter().take(limits::CONTEXT_ROWS as usize);
    shown
        .map(|entity| {
            let node = Neighbour::from(Node::new(&Thing::open(entity)?, None));
            Ok(Dependency {
                satisfied: satisfied.unwrap_or(node.resolved),
                node,
            })
        })
        .collect()
}
