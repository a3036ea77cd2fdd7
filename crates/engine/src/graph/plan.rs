//! `graph_plan`: many nodes at once, all of them or none.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::fields_of;
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::item::{LinkChange, Named};
use understory_model::link::DEPENDS_ON;
use understory_model::text::{check_text, quoted};
use understory_model::{Id, limits};

use crate::Work;
use crate::graph::{claim, cycle, find_to_change, project};
use crate::kernel::batch::{at, check_batch};
use crate::kernel::content::node::{CLAIM, NewNode as NodeData, PRIORITY};
use crate::kernel::work::Create;
use crate::kinds::EntityKind;

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

/// The answer of `graph_plan`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Planned {
    pub created: Vec<Created>,
}

/// A node that was made.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    /// Its temporary name in the call.
    #[serde(rename = "ref")]
    pub reference: String,
    pub id: String,
}

pub fn plan(work: &mut Work<'_, '_>, named: Option<&str>, nodes: &[NewNode]) -> Result<Planned> {
    let refs = check(nodes)?;
    let mut parents = Vec::with_capacity(nodes.len());
    let mut wanted = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        parents.push(match &node.parent {
            Some(parent) => {
                let field = format_args!("nodes[{index}].parent_ref");
                Some(at(field, target(work, &refs, parent))?)
            }
            None => None,
        });
        let mut targets: Vec<Target> = Vec::new();
        for (position, name) in node.depends_on.iter().enumerate() {
            let field = format_args!("nodes[{index}].depends_on[{position}]");
            let found = at(field, target(work, &refs, name))?;
            if !targets.contains(&found) {
                targets.push(found);
            }
        }
        wanted.push(targets);
    }
    let order = parents_first(nodes, &parents)?;
    no_cycle(nodes, &parents, &wanted)?;
    let (created, ids, root) = create(work, named, nodes, (&parents, &wanted, &order))?;
    if may_lead_back(work, &parents, root, &wanted)? {
        none_leads_back(work, nodes, &wanted, &ids)?;
    }
    Ok(Planned { created })
}

/// Whether what the batch depends on may wait for what it goes under. It hardly ever does, and then
/// nothing has to be looked at one by one.
fn may_lead_back(
    work: &mut Work<'_, '_>,
    parents: &[Option<Target>],
    root: Option<Id>,
    wanted: &[Vec<Target>],
) -> Result<bool> {
    let there = |target: &Target| match target {
        Target::There(id) => Some(*id),
        Target::New(_) => None,
    };
    let above: BTreeSet<Id> = parents
        .iter()
        .flatten()
        .filter_map(there)
        .chain(root)
        .collect();
    let awaited: BTreeSet<Id> = wanted.iter().flatten().filter_map(there).collect();
    let list = |ids: BTreeSet<Id>| ids.into_iter().collect::<Vec<Id>>();
    if awaited.is_empty() {
        Ok(false)
    } else {
        cycle::any_leads_back(work, &list(above), &list(awaited))
    }
}

/// Checks each dependency on an existing node, now that the batch is in its place.
fn none_leads_back(
    work: &mut Work<'_, '_>,
    nodes: &[NewNode],
    wanted: &[Vec<Target>],
    ids: &[Id],
) -> Result<()> {
    for (index, targets) in wanted.iter().enumerate() {
        for target in targets {
            let Target::There(to) = *target else { continue };
            let Some(path) = cycle::closing(work, ids[index], to)? else {
                continue;
            };
            // What is refused never gets its handle; its ref is the name that the caller knows.
            let mut names = Vec::with_capacity(path.len());
            for id in path {
                names.push(match ids.iter().position(|new| *new == id) {
                    Some(at) => nodes[at].reference.clone(),
                    None => work.named(id)?.handle,
                });
            }
            let field = format!("nodes[{index}].depends_on");
            return Err(cycle::refused(&field, &names, LEAVE_OUT));
        }
    }
    Ok(())
}

const LEAVE_OUT: &str = "A node waits for what is below it too. Leave out one of these links.";

fn check(nodes: &[NewNode]) -> Result<HashMap<&str, usize>> {
    check_batch("nodes", nodes.len())?;
    let (all, most) = (
        nodes
            .iter()
            .map(|node| node.depends_on.len())
            .sum::<usize>(),
        limits::BATCH_DEPENDENCIES,
    );
    if all > most {
        let problem = format!("have {all} dependencies in all; at most {most} are allowed");
        return Err(Fault::invalid("nodes", problem).hint("Split it into several calls."));
    }
    let mut refs = HashMap::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let field = |name| Field { index, name };
        check_text(field("ref"), &node.reference, limits::NAME_CHARS, false)?;
        check_text(field("summary"), &node.summary, limits::LINE_CHARS, false)?;
        check_links(field("context_links"), &node.context_links)?;
        check_properties(field("properties"), &node.properties)?;
        no_claim(field("properties"), &node.properties)?;
        if let Some(first) = refs.insert(node.reference.as_str(), index) {
            return Err(Fault::invalid(
                field("ref"),
                format!(
                    "{} is the ref of nodes[{first}] already",
                    quoted(&node.reference)
                ),
            )
            .hint("Give every node of a batch a ref of its own."));
        }
    }
    Ok(refs)
}

/// A field of a node of the batch; most are never spelt out.
#[derive(Clone, Copy)]
struct Field {
    index: usize,
    name: &'static str,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nodes[{}].{}", self.index, self.name)
    }
}

pub fn check_links(field: impl fmt::Display, links: &[String]) -> Result<()> {
    if links.len() > limits::LIST_LEN {
        return Err(Fault::invalid(
            field,
            format!("has more than {} entries", limits::LIST_LEN),
        ));
    }
    for (index, link) in links.iter().enumerate() {
        let entry = format_args!("{field}[{index}]");
        check_text(entry, link, limits::LINE_CHARS * 2, false)?;
    }
    Ok(())
}

pub fn check_properties(field: impl fmt::Display, properties: &Map<String, Value>) -> Result<()> {
    if properties.len() > limits::PROPERTIES {
        return Err(Fault::invalid(
            field,
            format!("has more than {} keys", limits::PROPERTIES),
        ));
    }
    for name in properties.keys() {
        let key = format_args!("{field} key");
        check_text(key, name, limits::NAME_CHARS, false)?;
    }
    match properties.get(PRIORITY) {
        None | Some(Value::Null | Value::Number(_)) => Ok(()),
        Some(_) => Err(Fault::invalid(
            format!("{field}.{PRIORITY}"),
            "must be a number; higher ranks first, a missing one counts as 0",
        )),
    }
}

/// A new node is unclaimed, and claims cannot be written by hand.
fn no_claim(field: impl fmt::Display, properties: &Map<String, Value>) -> Result<()> {
    let set = |name: &&str| properties.get(*name).is_some_and(|value| !value.is_null());
    match CLAIM.iter().find(|name| set(name)) {
        Some(name) => Err(claim::by_hand(field, name)),
        None => Ok(()),
    }
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
                let field = format!("nodes[{index}].parent_ref");
                return Err(cycle::refused(&field, &path, LEAVE_OUT));
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

/// Within the batch nothing may wait for itself: not along dependencies, and not along the tree.
fn no_cycle(nodes: &[NewNode], parents: &[Option<Target>], wanted: &[Vec<Target>]) -> Result<()> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Unseen,
        Open,
        Done,
    }
    let awaited = awaited(parents, wanted);
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
            let Some(next) = awaited[index].get(position).copied() else {
                marks[index] = Mark::Done;
                continue;
            };
            stack.push((index, position + 1));
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
                    let field = format!("nodes[{index}].depends_on");
                    return Err(cycle::refused(&field, &path, LEAVE_OUT));
                }
            }
        }
    }
    Ok(())
}

/// What each node of the batch waits for within it: its dependencies, and its children.
fn awaited(parents: &[Option<Target>], wanted: &[Vec<Target>]) -> Vec<Vec<usize>> {
    let new = |target: &Target| match target {
        Target::New(index) => Some(*index),
        Target::There(_) => None,
    };
    let mut awaited: Vec<Vec<usize>> = wanted
        .iter()
        .map(|targets| targets.iter().filter_map(new).collect())
        .collect();
    for (child, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent.as_ref().and_then(new) {
            awaited[parent].push(child);
        }
    }
    awaited
}

fn create(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    nodes: &[NewNode],
    (parents, wanted, order): (&[Option<Target>], &[Vec<Target>], &[usize]),
) -> Result<(Vec<Created>, Vec<Id>, Option<Id>)> {
    let needs_root = parents.iter().any(Option::is_none) || named.is_some();
    let home = if needs_root {
        Some(project::to_write(work, named, false)?)
    } else {
        None
    };
    let first = work.next_number(HandleKind::Task)?;
    let handles: Vec<String> = (0..nodes.len())
        .map(|i| HandleKind::Task.handle(first + i as i64))
        .collect();
    // Every id is known before the first node is made: an entity's id is its item's place.
    let start = work.next_seq();
    let mut ids = vec![Id::ZERO; nodes.len()];
    for (position, index) in order.iter().enumerate() {
        ids[*index] = Id::of(start + position as i64);
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
    let created = nodes
        .iter()
        .zip(handles)
        .map(|(node, id)| Created {
            reference: node.reference.clone(),
            id,
        })
        .collect();
    let root = home.map(|home| home.root);
    Ok((created, ids, root))
}

fn create_one(
    work: &mut Work<'_, '_>,
    node: &NewNode,
    handle: String,
    parent: Named,
    links: Vec<LinkChange>,
) -> Result<Id> {
    let above = work.node(parent.id)?;
    let (project, depth) = above.map_or((Id::ZERO, 0), |above| (above.project, above.depth + 1));
    if depth >= limits::GRAPH_DEPTH {
        return Err(too_deep(&node.reference));
    }
    let data = fields_of(&NodeData {
        summary: &node.summary,
        properties: node.properties.clone(),
        context_links: &node.context_links,
        ..NodeData::default()
    })?;
    work.create(Create {
        kind: EntityKind::Node,
        handle,
        project: Some(project),
        parent: Some(parent),
        data,
        links,
        ..Create::default()
    })
}
