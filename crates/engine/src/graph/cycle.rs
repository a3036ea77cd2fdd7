//! Where work would wait for itself, found from both ends at once.
//!
//! A node waits for what it depends on and for what lies below it. A circle of these, in any
//! mixture, could never be finished: a child that depends on its own ancestor is the shortest.

use std::collections::{HashMap, HashSet, VecDeque};

use understory_model::error::{Fault, Result};
use understory_model::link::DEPENDS_ON;
use understory_model::{Id, Ws};
use understory_storage::{ReadTx, entities, links, nodes};

use crate::Work;

/// Steps of one side of the search: who led to whom.
struct Side {
    came_from: HashMap<Id, Id>,
    edge: VecDeque<Id>,
}

impl Side {
    fn new(starts: &[Id]) -> Side {
        Side {
            came_from: starts.iter().map(|id| (*id, *id)).collect(),
            edge: starts.iter().copied().collect(),
        }
    }

    fn trail(&self, mut at: Id) -> Vec<Id> {
        let mut trail = vec![at];
        while let Some(next) = self.came_from.get(&at).copied().filter(|next| *next != at) {
            trail.push(next);
            at = next;
        }
        trail
    }
}

/// What a node waits for.
fn awaited(work: &mut Work<'_, '_>, id: Id) -> Result<Vec<Id>> {
    let mut next = work.targets(id, DEPENDS_ON)?;
    next.extend(work.children(id)?);
    Ok(next)
}

/// What waits for a node.
fn awaiting(work: &mut Work<'_, '_>, id: Id) -> Result<Vec<Id>> {
    let mut next = work.sources(id, DEPENDS_ON)?;
    next.extend(work.thing(id)?.entity.parent);
    Ok(next)
}

/// A way from one of `to` to one of `from` along what waits for what, as `from to … from`, or
/// `None`.
///
/// The smaller side is searched first; of two equal ones that which goes up, for it meets one
/// parent where the other meets all children.
fn meeting(work: &mut Work<'_, '_>, from: &[Id], to: &[Id]) -> Result<Option<Vec<Id>>> {
    if let Some(same) = from.iter().find(|id| to.contains(id)) {
        return Ok(Some(vec![*same, *same]));
    }
    let (mut down, mut up) = (Side::new(to), Side::new(from));
    while !down.edge.is_empty() && !up.edge.is_empty() {
        let forward = down.edge.len() < up.edge.len();
        let (side, other) = if forward {
            (&mut down, &up)
        } else {
            (&mut up, &down)
        };
        let Some(at) = side.edge.pop_front() else {
            break;
        };
        let next = if forward {
            awaited(work, at)?
        } else {
            awaiting(work, at)?
        };
        for id in next {
            if side.came_from.contains_key(&id) {
                continue;
            }
            side.came_from.insert(id, at);
            if other.came_from.contains_key(&id) {
                return Ok(Some(circle(id, &down, &up)));
            }
            side.edge.push_back(id);
        }
    }
    Ok(None)
}

/// `from → to → … → meeting → … → from`.
fn circle(meeting: Id, down: &Side, up: &Side) -> Vec<Id> {
    let back = up.trail(meeting);
    let mut path: Vec<Id> = back.last().copied().into_iter().collect();
    let mut to_meeting = down.trail(meeting);
    to_meeting.reverse();
    path.extend(to_meeting);
    path.extend(back.into_iter().skip(1));
    path
}

/// The circle that `from` waiting for `to` would close, as `from … from`, or `None`.
pub fn closing(work: &mut Work<'_, '_>, from: Id, to: Id) -> Result<Option<Vec<Id>>> {
    meeting(work, &[from], &[to])
}

/// Whether any of `to` waits for any of `from`, however far round.
pub fn any_leads_back(work: &mut Work<'_, '_>, from: &[Id], to: &[Id]) -> Result<bool> {
    Ok(meeting(work, from, to)?.is_some())
}

/// The circle that a node is part of, or `None`.
pub fn through(work: &mut Work<'_, '_>, id: Id) -> Result<Option<Vec<Id>>> {
    let next = awaited(work, id)?;
    if next.is_empty() {
        Ok(None)
    } else {
        meeting(work, &[id], &next)
    }
}

/// Handles of a path.
pub fn named(work: &mut Work<'_, '_>, path: &[Id]) -> Result<Vec<String>> {
    path.iter().map(|id| Ok(work.named(*id)?.handle)).collect()
}

/// The refusal of a circle, with its path and what to do about it.
pub fn refused(field: &str, path: &[String], hint: &str) -> Fault {
    let problem = format!("would close a cycle: {}", path.join(" → "));
    Fault::invalid(field, problem)
        .detail("field", field)
        .detail("reason", "cycle_detected")
        .detail("cycle", path)
        .hint(hint)
}

/// Nodes looked at before a search for a deadlock gives up.
const LOOKED_AT: usize = 10_000;

/// What an open node waits for that is open too.
pub fn waited_for(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Vec<Id>> {
    let mut next = links::targets(tx, ws, id, DEPENDS_ON)?;
    next.extend(entities::child_ids(tx, ws, id)?);
    let mut open = Vec::new();
    for id in next {
        if nodes::get(tx, ws, id)?.is_some_and(|node| !node.resolved) {
            open.push(id);
        }
    }
    Ok(open)
}

/// A circle of open nodes that wait for each other, reached from one of them. None can be made any
/// more, but a store may hold one from before.
pub fn waiting(tx: &mut ReadTx<'_>, ws: Ws, start: Id) -> Result<Option<Vec<Id>>> {
    let mut done: HashSet<Id> = HashSet::new();
    let mut trail: Vec<(Id, Vec<Id>)> = vec![(start, waited_for(tx, ws, start)?)];
    while let Some((at, left)) = trail.last_mut() {
        let at = *at;
        let Some(next) = left.pop() else {
            done.insert(at);
            trail.pop();
            continue;
        };
        if let Some(from) = trail.iter().position(|(id, _)| *id == next) {
            let mut path: Vec<Id> = trail[from..].iter().map(|(id, _)| *id).collect();
            path.push(next);
            return Ok(Some(path));
        }
        if !done.contains(&next) {
            if done.len() + trail.len() > LOOKED_AT {
                return Ok(None);
            }
            trail.push((next, waited_for(tx, ws, next)?));
        }
    }
    Ok(None)
}
