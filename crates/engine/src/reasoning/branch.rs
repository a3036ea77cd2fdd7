//! Making, listing and checking out branches; the state of the workspace's reasoning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use understory_model::answer::{Fit, Shape};
use understory_model::branch::check_name;
use understory_model::budget::Drop;
use understory_model::error::{Code, Fault, Result};
use understory_model::id::item_name;
use understory_model::page::unknown_cursor;
use understory_model::text::quoted;
use understory_model::{Id, Seq, Time};
use understory_storage::{branches, entities, items, workspaces};

use super::docs::{self, BranchState};
use super::place::{self, CHECKOUT, Checkout, MAIN, canonical};
use super::shape::Pagination;
use crate::kinds::EntityKind;
use crate::work::{Create, Edit};
use crate::{View, Work};

/// A branch in a list of others.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    pub name: String,
    /// The branch that it was made from; main and those of plans and tasks were not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// Up to which item it shows what its base had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_seq: Option<Seq>,
}

impl Branch {
    /// One that was not made from another.
    fn rootless(name: impl Into<String>) -> Branch {
        Branch {
            name: name.into(),
            base_branch: None,
            base_seq: None,
        }
    }
}

/// The answer of `branchmind_branch_create`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    pub workspace: String,
    pub branch: Branch,
}

/// `branchmind_branch_create`: a branch from what another shows now.
pub fn create(work: &mut Work<'_, '_>, name: &str, from: Option<&str>) -> Result<Branch> {
    check_name(name).map_err(|fault| called("name", fault))?;
    let ws = work.ws();
    if name == MAIN || name.starts_with("task/") || name.starts_with("plan/") {
        return Err(Fault::invalid(
            "name",
            format!("{} is reserved for the server", quoted(name)),
        )
        .hint("main and the branches of tasks and plans exist already; choose another name."));
    }
    if branches::get(work.tx, ws, name)?.is_some() {
        return Err(
            Fault::conflict(format!("there is a branch {} already", quoted(name)))
                .hint("branchmind_checkout switches to it; choose another name for a new one."),
        );
    }
    let base = match from {
        Some(from) => from.to_string(),
        None => place::checkout(work.tx, ws)?,
    };
    place::check_branch(work.tx, ws, &base)?;
    let base_seq = work.next_seq() - 1;
    let mut data = Map::new();
    data.insert("name".into(), name.into());
    data.insert("base_branch".into(), base.clone().into());
    data.insert("base_seq".into(), base_seq.into());
    work.create(Create {
        kind: EntityKind::Branch,
        handle: format!("branch:{name}"),
        data,
        ..Create::default()
    })?;
    Ok(Branch {
        name: name.to_string(),
        base_branch: Some(base),
        base_seq: Some(base_seq),
    })
}

/// The fault of a name, under the name of the argument that it came in.
fn called(field: &str, mut fault: Fault) -> Fault {
    fault.message = fault.message.replacen("branch", field, 1);
    fault.detail("field", field)
}

/// The answer of `branchmind_checkout`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckedOut {
    pub workspace: String,
    /// The branch that was checked out before.
    pub previous: String,
    /// Who checked that one out; null if nobody did.
    pub previous_by: Option<String>,
    pub current: String,
    /// Whom the checkout concerns.
    pub note: String,
}

const FOR_ALL: &str = "This is the checkout of the workspace: calls of all its agents that name no \
                       branch mean it.";

/// `branchmind_checkout`: the branch that calls mean when they name none.
pub fn checkout(work: &mut Work<'_, '_>, workspace: &str, name: &str) -> Result<CheckedOut> {
    check_name(name).map_err(|fault| called("ref", fault))?;
    let ws = work.ws();
    place::check_branch(work.tx, ws, name)?;
    let previous = place::checked_out(work.tx, ws)?;
    set_checkout(work, name)?;
    Ok(CheckedOut {
        workspace: workspace.to_string(),
        previous: previous.current,
        previous_by: previous.checked_out_by,
        current: name.to_string(),
        note: FOR_ALL.into(),
    })
}

fn set_checkout(work: &mut Work<'_, '_>, name: &str) -> Result<()> {
    let mut data = Map::new();
    data.insert("ref".into(), name.into());
    match work.core.by_handle(work.tx, CHECKOUT)? {
        Some(id) if work.thing(id)?.data == data => Ok(()),
        Some(id) => {
            let (action, data) = ("checked_out", Some(data));
            work.change(
                id,
                Edit {
                    action,
                    data,
                    ..Edit::default()
                },
            )?;
            Ok(())
        }
        None => {
            work.create(Create {
                kind: EntityKind::Checkout,
                handle: CHECKOUT.into(),
                data,
                ..Create::default()
            })?;
            Ok(())
        }
    }
}

/// `branchmind_init`: makes sure that the workspace is there.
pub fn init(work: &mut Work<'_, '_>) -> Result<()> {
    match work.core.by_handle(work.tx, CHECKOUT)? {
        Some(_) => Ok(()),
        None => set_checkout(work, MAIN),
    }
}

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
            if let Some(handle) = place::node_of_branch(cursor) {
                node = place::node(tx, ws, handle)?.map_or(0, |node| node.id);
                name = None;
            }
        }
    }
    if let Some(name) = name {
        let made = branches::list(tx, ws, &name, most - found.len() as i64)?;
        found.extend(made.into_iter().map(|branch| Branch {
            name: branch.name,
            base_branch: Some(branch.base),
            base_seq: Some(branch.base_seq),
        }));
    }
    let room = most - found.len() as i64;
    if room > 0 {
        let nodes = entities::newest_of(tx, ws, crate::projection::NODE, node, room)?;
        let named = nodes.iter().map(|handle| canonical(handle));
        found.extend(named.map(Branch::rootless));
    }
    Ok(found)
}

/// The answer of `branchmind_init`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Prepared {
    pub workspace: String,
    /// Where the store is.
    pub storage_dir: String,
    pub schema_version: i64,
}

/// The answer of `branchmind_status`. The newest item is left out where there is none.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    pub workspace: String,
    pub schema_version: i64,
    #[serde(flatten)]
    pub checkout: Checkout,
    /// The branch that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event_ts: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<Seq>,
}

impl Fit for Status {
    const SHAPE: Shape = Shape::Whole;
}

/// `branchmind_status`: the newest item of the workspace, and one branch with its documents.
pub fn status(
    view: &mut View<'_, '_>,
    (workspace, schema_version): (&str, i64),
    branch: Option<&str>,
) -> Result<Status> {
    let branch = match branch {
        Some(name) => Some(docs::shown(view.tx, view.ws, name)?),
        None => None,
    };
    let head = workspaces::head(view.tx, view.ws, false)?.map_or(0, |head| head.seq);
    let last = items::get(view.tx, view.ws, head)?;
    Ok(Status {
        workspace: workspace.to_string(),
        schema_version,
        checkout: place::checked_out(view.tx, view.ws)?,
        branch,
        last_event_id: last.as_ref().map(|item| item_name(&item.uuid)),
        last_event_ts: last.as_ref().map(|item| item.realized_at),
        last_seq: last.map(|item| item.seq),
    })
}
