//! `branchmind_status`: the newest item of the workspace, and one branch with its documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_model::id::item_name;
use understory_model::{Seq, Time};
use understory_storage::{items, workspaces};

use super::docs::{self, BranchState};
use super::place::{self, Checkout};
use crate::View;

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
    let head = workspaces::head(view.tx, view.ws, false)?.map_or(Seq::ZERO, |head| head.seq);
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
