//! `branchmind_branch_list`: the branches that there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Id;
use understory_model::answer::{Fit, Shape};
use understory_model::branch::node_of_branch;
use understory_model::budget::Drop;
use understory_model::error::{Code, Result};
use understory_model::page::unknown_cursor;
use understory_storage::{branches, entities};

use super::branch::Branch;
use super::place::{self, Checkout, MAIN, canonical};
use super::shape::Pagination;
use crate::View;

/// Which page of the branches is asked for: after the branch of this name.
#[derive(Debug, Clone)]
pub struct Asked {
    pub cursor: Option<String>,
    pub limit: i64,
}

/// The answer of `branchmind_branch_list`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Branches {
    pub workspace: String,
    #[serde(flatten)]
    pub checkout: Checkout,
    pub branches: Vec<Branch>,
    pub counts: Counts,
    pub pagination: Pagination<String>,
    /// Whether there are more branches than are shown.
    pub truncated: bool,
}

/// How many branches there are beside main.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    pub made: i64,
    pub plans_and_tasks: i64,
}

impl Fit for Branches {
    const SHAPE: Shape = Shape::Around {
        list: "branches",
        drop: Drop::Last,
    };

    fn around(&self, kept: usize) -> Option<Branches> {
        let more = self.truncated || kept < self.branches.len();
        let last = kept.checked_sub(1).and_then(|at| self.branches.get(at));
        Some(Branches {
            workspace: self.workspace.clone(),
            checkout: self.checkout.clone(),
            branches: Vec::new(),
            counts: self.counts,
            pagination: Pagination {
                has_more: more,
                count: kept,
                next_cursor: last.filter(|_| more).map(|last| last.name.clone()),
                ..self.pagination.clone()
            },
            truncated: more,
        })
    }
}

/// `branchmind_branch_list`: the first branch, those that were made, by name, and those of graph
/// nodes, the newest first.
pub fn list(view: &mut View<'_, '_>, workspace: &str, asked: &Asked) -> Result<Branches> {
    let (made, plans_and_tasks) = branches::counts(view.tx, view.ws)?;
    let mut found = after(view, asked)?;
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let more = found.len() > most;
    found.truncate(most);
    let last = found.last().filter(|_| more);
    let pagination = Pagination {
        cursor: asked.cursor.clone(),
        has_more: more,
        limit: asked.limit,
        count: found.len(),
        next_cursor: last.map(|last| last.name.clone()),
    };
    Ok(Branches {
        workspace: workspace.to_string(),
        checkout: place::checked_out(view.tx, view.ws)?,
        branches: found,
        counts: Counts {
            made,
            plans_and_tasks,
        },
        pagination,
        truncated: more,
    })
}

/// One more than a page of branches after the cursor.
fn after(view: &mut View<'_, '_>, asked: &Asked) -> Result<Vec<Branch>> {
    let (tx, ws, most) = (&mut *view.tx, view.ws, asked.limit + 1);
    let mut found = Vec::new();
    let (mut name, mut node) = (Some(String::new()), Id::MAX);
    match asked.cursor.as_deref() {
        None => found.push(Branch::rootless(MAIN)),
        Some(MAIN) => {}
        Some(cursor) => {
            place::check_branch(tx, ws, cursor).map_err(|fault| match fault.code {
                // No branch is ever removed: the last of a page is still there.
                Code::UnknownBranch | Code::UnknownTarget | Code::Validation => unknown_cursor(),
                _ => fault,
            })?;
            name = Some(cursor.to_string());
            if let Some(handle) = node_of_branch(cursor) {
                node = place::node(tx, ws, handle)?.map_or(Id::ZERO, |node| node.id);
                name = None;
            }
        }
    }
    if let Some(name) = name {
        let made = branches::list(tx, ws, &name, most - found.len() as i64)?;
        for branch in made {
            let entity = entities::get(tx, ws, branch.id)?;
            found.push(Branch {
                name: branch.name,
                base_branch: Some(branch.base),
                base_seq: Some(branch.base_seq),
                made_at: entity.as_ref().map(|entity| entity.created_at),
                made_by: entity.map(|entity| entity.created_by),
            });
        }
    }
    let room = most - found.len() as i64;
    if room > 0 {
        let nodes = entities::newest_of(tx, ws, crate::kinds::NODE, node, room)?;
        let named = nodes.iter().map(|handle| canonical(handle));
        found.extend(named.map(Branch::rootless));
    }
    Ok(found)
}
