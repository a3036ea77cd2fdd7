//! `tasks_radar`: where a plan or task is: what blocks it, what to do next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Id;
use understory_model::answer::{Fit, Shape, Step};
use understory_model::error::Result;
use understory_model::link::DEPENDS_ON;
use understory_storage::nodes::{self, Standing};
use understory_storage::ready::{self, Ready};
use understory_storage::{conflicts, entities, links};

use super::place::{self, Documents};
use super::target::{Target, brief};
use crate::View;
use crate::kernel::content::brief::{Brief, briefs};
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;

/// Blockers, and nodes to go on with, that a radar names.
const NAMED: i64 = 10;

/// The answer of `tasks_radar`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Radar {
    pub target: Target,
    /// What it waits for.
    pub blockers: Vec<Brief>,
    /// What can be worked on: the task itself, or what is below it.
    pub next: Vec<Brief>,
    /// Conflicts of merges into its branch.
    pub open_conflicts: i64,
    pub reasoning_ref: Documents,
    pub truncated: bool,
}

impl Fit for Radar {
    const SHAPE: Shape = Shape::Steps {
        steps: &[Step::Lists(&["/blockers", "/next"])],
        rest: &Shape::Fields(&["/reasoning_ref"]),
    };
}

/// Where a node stands: what blocks it, what to do next, where its reasoning is.
pub fn radar(view: &mut View<'_, '_>, handle: &str) -> Result<Radar> {
    let reference = place::target(view.tx, view.ws, handle)?;
    let target = brief(view, &reference)?;
    let mut blockers = Vec::new();
    for id in links::targets(view.tx, view.ws, reference.id, DEPENDS_ON)? {
        if blockers.len() == NAMED as usize {
            break;
        }
        if let Some(entity) = entities::get(view.tx, view.ws, id)?
            && !fields::resolved(&Thing::open(entity)?.data)
        {
            blockers.push(id);
        }
    }
    let next = next(view, reference.id)?;
    Ok(Radar {
        target,
        blockers: briefs(view.tx, view.ws, &blockers)?,
        next: briefs(view.tx, view.ws, &next)?,
        open_conflicts: conflicts::open_count(view.tx, view.ws, &reference.branch, 1_000)?,
        reasoning_ref: reference.shown(),
        truncated: false,
    })
}

/// The node itself where it can be worked on, else what can be below it.
fn next(view: &mut View<'_, '_>, id: Id) -> Result<Vec<Id>> {
    let Some(node) = nodes::get(view.tx, view.ws, id)? else {
        return Ok(Vec::new());
    };
    if node.standing == Standing::Ready {
        return Ok(vec![id]);
    }
    if node.resolved {
        return Ok(Vec::new());
    }
    let ready = Ready {
        project: node.project,
        scope: Some(&node.path),
        keys: &[],
        agent: &view.caller.agent,
        session: &view.caller.session,
        ended: &[],
        stale: view.now.minus(view.rules.claim_ttl),
        most: NAMED,
    };
    ready::ready(view.tx, view.ws, &ready)
}
