//! `branchmind_branch_create`: a branch from what another shows now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use understory_model::branch::check_name;
use understory_model::error::{Fault, Result};
use understory_model::text::quoted;
use understory_storage::branches;

use super::branch::{Branch, called};
use super::place::{self, MAIN};
use crate::Work;
use crate::kernel::work::Create;
use crate::kinds::EntityKind;

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
    if branches::get(work.read()?, ws, name)?.is_some() {
        return Err(
            Fault::conflict(format!("there is a branch {} already", quoted(name)))
                .hint("branchmind_checkout switches to it; choose another name for a new one."),
        );
    }
    let base = match from {
        Some(from) => from.to_string(),
        None => place::checkout(work.read()?, ws)?,
    };
    place::check_branch(work.read()?, ws, &base)?;
    let base_seq = work.next_seq() - 1;
    let mut data = Map::new();
    data.insert("name".into(), name.into());
    data.insert("base_branch".into(), base.clone().into());
    data.insert("base_seq".into(), base_seq.0.into());
    work.create(Create {
        kind: EntityKind::Branch,
        handle: format!("branch:{name}"),
        data,
        ..Create::default()
    })?;
    Ok(Branch {
        base_branch: Some(base),
        base_seq: Some(base_seq),
        ..Branch::rootless(name)
    })
}
