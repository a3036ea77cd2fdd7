//! `branchmind_checkout`: the branch that calls mean when they name none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::branch::check_name;
use understory_model::error::Result;

use super::branch::{called, set_checkout};
use super::place;
use crate::Work;

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
    place::check_branch(work.read()?, ws, name)?;
    let previous = place::checked_out(work.read()?, ws)?;
    set_checkout(work, name)?;
    Ok(CheckedOut {
        workspace: workspace.to_string(),
        previous: previous.current,
        previous_by: previous.checked_out_by,
        current: name.to_string(),
        note: FOR_ALL.into(),
    })
}
