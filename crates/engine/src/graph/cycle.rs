//! Where a dependency would close a circle, found from both ends at once.

use std::collections::{HashMap, VecDeque};

use serde_json::json;
use understory_model::Id;
use understory_model::error::{Fault, Result};
use understory_model::link::DEPENDS_ON;

use crate::Work;

/// Steps of one side of the search: who led to whom.
struct Side {
    came_from: HashMap<Id, Id>,
    edge: VecDeque<Id>,
}

impl Side {
    fn new(start: Id) -> Side {
        Side {
            came_from: HashMap::from([(start, start)]),
            edge: VecDeque::from([start]),
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

/// The circle that `from` depending on `to` would close, as `from … from`, or `None`.
///
/// The smaller side is searched first, so that a leaf added to a large graph costs a step or two.
pub fn closing(work: &mut Work<'_, '_>, from: Id, to: Id) -> Result<Option<Vec<Id>>> {
    if from == to {
        return Ok(Some(vec![from, from]));
    }
    let (mut down, mut up) = (Side::new(to), Side::new(from));
    while !down.edge.is_empty() && !up.edge.is_empty() {
        let forward = down.edge.len() <= up.edge.len();
        let (side, other) = if forward {
            (&mut down, &up)
        } else {
            (&mut up, &down)
        };
        let Some(at) = side.edge.pop_front() else {
            break;
        };
        let next = if forward {
            work.core.targets(work.tx, at, DEPENDS_ON)?
        } else {
            work.core.sources(work.tx, at, DEPENDS_ON)?
        };
        for id in next {
            if side.came_from.contains_key(&id) {
                continue;
            }
            side.came_from.insert(id, at);
            if other.came_from.contains_key(&id) {
                return Ok(Some(circle(from, id, &down, &up)));
            }
            side.edge.push_back(id);
        }
    }
    Ok(None)
}

/// `from → to → … → meeting → … → from`.
fn circle(from: Id, meeting: Id, down: &Side, up: &Side) -> Vec<Id> {
    let mut path = vec![from];
    let mut to_meeting = down.trail(meeting);
    to_meeting.reverse();
    path.extend(to_meeting);
    path.extend(up.trail(meeting).into_iter().skip(1));
    path
}

/// The refusal of a circle, with its path.
pub fn refused(field: &str, path: &[String]) -> Fault {
    Fault::invalid(field, format!("would close a circle: {}", path.join(" → ")))
        .details(json!({ "reason": "cycle_detected", "cycle": path }))
        .hint("Leave out one of these links.")
}
