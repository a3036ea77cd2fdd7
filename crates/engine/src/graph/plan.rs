//! `graph_plan`: many nodes at once, all of them or none.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use understory_model::Id;
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::item::{LinkChange, Named};
use understory_model::limits;
use understory_model::link::DEPENDS_ON;
use understory_model::text::check_text;

use crate::Work;
use crate::graph::{at, check_batch, cycle, find_to_change, project};
use crate::projection::NODE;
use crate::work::Create;

/// A node to be made.
#[derive(Debug, Clone)]
pub struct NewNode {
    pub reference: String,
    pub parent: Option<String>,
    pub summary: String,
    pub context_links: Vec<String>,
    pub depends_on: Vec<String>,
    pub properties: Map<String, Value>,
}

/// What a name in a batch leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    New(usize),
    There(Id),
}

pub fn plan(work: &mut Work<'_, '_>, named: Option<&str>, nodes: &[NewNode]) -> Result<Value> {
    let refs = check(nodes)?;
    let mut parents = Vec::with_capacity(nodes.len());
    let mut wanted = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let field = |name: &str| format!("nodes[{index}].{name}");
        parents.push(match &node.parent {
            Some(parent) => Some(at(field("parent_ref"), target(work, &refs, parent))?),
            None => None,
        });
        let mut targets: Vec<Target> = Vec::new();
        for (position, name) in node.depends_on.iter().enumerate() {
            let found = at(
                format!("nodes[{index}].depends_on[{position}]"),
                target(work, &refs, name),
            )?;
            if !targets.contains(&found) {
                targets.push(found);
            }
        }
        wanted.push(targets);
    }
    let order = parents_first(nodes, &parents)?;
    no_circle(nodes, &wanted)?;
    create(work, named, nodes, &parents, &wanted, &order)
}

fn check(nodes: &[NewNode]) -> Result<HashMap<&str, usize>> {
    check_batch("nodes", nodes.len())?;
    let mut refs = HashMap::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let field = |name: &str| format!("nodes[{index}].{name}");
        check_text(&field("ref"), &node.reference, limits::NAME_CHARS, false)?;
        check_text(&field("summary"), &node.summary, limits::LINE_CHARS, false)?;
        check_links(&field("context_links"), &node.context_links)?;
        check_properties(&field("properties"), &node.properties)?;
        if let Some(first) = refs.insert(node.reference.as_str(), index) {
            return Err(Fault::invalid(
                field("ref"),
                format!("`{}` is the ref of nodes[{first}] already", node.reference),
            )
            .hint("Give every node of a batch a ref of its own."));
        }
    }
    Ok(refs)
}

pub fn check_links(field: &str, links: &[String]) -> Result<()> {
    if links.len() > limits::LIST_LEN {
        return Err(Fault::invalid(
            field,
            format!("has more than {} entries", limits::LIST_LEN),
        ));
    }
    for (index, link) in links.iter().enumerate() {
        check_text(
            &format!("{field}[{index}]"),
            link,
            limits::LINE_CHARS * 2,
            false,
        )?;
    }
    Ok(())
}

pub fn check_properties(field: &str, properties: &Map<String, Value>) -> Result<()> {
    if properties.len() > limits::PROPERTIES {
        return Err(Fault::invalid(
            field,
            format!("has more than {} keys", limits::PROPERTIES),
        ));
    }
    for name in properties.keys() {
        check_text(&format!("{field} key"), name, limits::NAME_CHARS, false)?;
    }
    Ok(())
}

/// A ref of this batch, else an existing node.
fn target(work: &mut Work<'_, '_>, refs: &HashMap<&str, usize>, name: &str) -> Result<Target> {
    match refs.get(name) {
        Some(index) => Ok(Target::New(*index)),
        None => find_to_change(work, name).map(Target::There),
    }
}

/// The batch with every parent before its children; a circle of parents is refused.
fn parents_first(nodes: &[NewNode], parents: &[Option<Target>]) -> Result<Vec<usize>> {
    let mut placed = vec![false; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    for start in 0..nodes.len() {
        let mut chain = Vec::new();
        let mut next = Some(start);
        while let Some(index) = next.filter(|index| !placed[*index]) {
            if let Some(position) = chain.iter().position(|seen| *seen == index) {
                let mut path: Vec<String> = chain[position..]
                    .iter()
                    .map(|i: &usize| nodes[*i].reference.clone())
                    .collect();
                path.push(nodes[index].reference.clone());
                return Err(cycle::refused(&format!("nodes[{index}].parent_ref"), &path));
            }
            if chain.len() as i64 > limits::GRAPH_DEPTH {
                return Err(too_deep(&nodes[start].reference));
            }
            chain.push(index);
            next = match parents[index] {
                Some(Target::New(parent)) => Some(parent),
                _ => None,
            };
        }
        for index in chain.into_iter().rev() {
            placed[index] = true;
            order.push(index);
        }
    }
    Ok(order)
}

pub fn too_deep(name: &str) -> Fault {
    Fault::new(
        Code::DepthExceeded,
        format!(
            "{name} would lie deeper than {} levels",
            limits::GRAPH_DEPTH
        ),
    )
    .hint("Plan wider: put it under a node further up.")
}

/// Dependencies inside the batch must not close a circle; none can pass through existing nodes,
/// for those cannot depend on what is only being made.
fn no_circle(nodes: &[NewNode], wanted: &[Vec<Target>]) -> Result<()> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Unseen,
        Open,
        Done,
    }
    let mut marks = vec![Mark::Unseen; nodes.len()];
    for start in 0..nodes.len() {
        // A stack of (node, next of its targets), so that no depth of plan overflows ours.
        let mut stack = vec![(start, 0)];
        while let Some((index, position)) = stack.pop() {
            if position == 0 {
                if marks[index] == Mark::Done {
                    continue;
                }
                marks[index] = Mark::Open;
            }
            let Some(next) = wanted[index].get(position) else {
                marks[index] = Mark::Done;
                continue;
            };
            stack.push((index, position + 1));
            let Target::New(next) = *next else { continue };
            match marks[next] {
                Mark::Unseen => stack.push((next, 0)),
                Mark::Done => {}
                Mark::Open => {
                    let from = stack
                        .iter()
                        .position(|(open, _)| *open == next)
                        .unwrap_or(0);
                    let mut path: Vec<String> = stack[from..]
                        .iter()
                        .map(|(i, _)| nodes[*i].reference.clone())
                        .collect();
                    path.push(nodes[next].reference.clone());
                    return Err(cycle::refused(&format!("nodes[{index}].depends_on"), &path));
                }
            }
        }
    }
    Ok(())
}

fn create(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    nodes: &[NewNode],
    parents: &[Option<Target>],
    wanted: &[Vec<Target>],
    order: &[usize],
) -> Result<Value> {
    let needs_root = parents.iter().any(Option::is_none) || named.is_some();
    let home = if needs_root {
        Some(project::to_write(work, named, false)?)
    } else {
        None
    };
    let first = work.core.next_number(work.tx, HandleKind::Task)?;
    let handles: Vec<String> = (0..nodes.len())
        .map(|i| HandleKind::Task.handle(first + i as i64))
        .collect();
    // Every id is known before the first node is made: an entity's id is its item's place.
    let start = work.next_seq();
    let mut ids = vec![0; nodes.len()];
    for (position, index) in order.iter().enumerate() {
        ids[*index] = start + position as Id;
    }
    for index in order {
        let parent = match (parents[*index], &home) {
            (Some(Target::New(parent)), _) => Named {
                id: ids[parent],
                handle: handles[parent].clone(),
            },
            (Some(Target::There(id)), _) => work.named(id)?,
            (None, Some(home)) => work.named(home.root)?,
            (None, None) => return Err(Fault::new(Code::Internal, "a node without a place")),
        };
        let mut links = Vec::with_capacity(wanted[*index].len());
        for target in &wanted[*index] {
            let to = match target {
                Target::New(other) => Named {
                    id: ids[*other],
                    handle: handles[*other].clone(),
                },
                Target::There(id) => work.named(*id)?,
            };
            links.push(LinkChange {
                relation: DEPENDS_ON.into(),
                to,
                remove: false,
            });
        }
        create_one(work, &nodes[*index], handles[*index].clone(), parent, links)?;
    }
    let created: Vec<Value> = nodes
        .iter()
        .zip(&handles)
        .map(|(node, handle)| json!({ "ref": node.reference, "id": handle }))
        .collect();
    Ok(json!({ "created": created }))
}

fn create_one(
    work: &mut Work<'_, '_>,
    node: &NewNode,
    handle: String,
    parent: Named,
    links: Vec<LinkChange>,
) -> Result<Id> {
    let above = work.core.node(work.tx, parent.id)?;
    let (project, depth) = above.map_or((0, 0), |above| (above.project, above.depth + 1));
    if depth >= limits::GRAPH_DEPTH {
        return Err(too_deep(&node.reference));
    }
    let data = project::new_data(
        &node.summary,
        Value::Object(node.properties.clone()),
        json!(node.context_links),
    );
    work.create(Create {
        kind: NODE,
        handle,
        project: Some(project),
        parent: Some(parent),
        data,
        links,
        ..Create::default()
    })
}
