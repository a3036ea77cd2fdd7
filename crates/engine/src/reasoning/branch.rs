//! Making, listing and checking out branches; the state of the workspace's reasoning.

use serde_json::{Map, Value, json};
use understory_model::branch::check_name;
use understory_model::budget::{Budget, fit_rows};
use understory_model::error::{Fault, Result};
use understory_model::id::item_name;
use understory_storage::branches::{self, Branch};
use understory_storage::{entities, items, workspaces};

use super::place::{self, CHECKOUT, MAIN, canonical};
use crate::projection::{BRANCH, CHECKOUT_KIND};
use crate::work::{Create, Edit};
use crate::{View, Work};

/// `branchmind_branch_create`: a branch from what another shows now.
pub fn create(work: &mut Work<'_, '_>, name: &str, from: Option<&str>) -> Result<Value> {
    check_name(name).map_err(|fault| called("name", fault))?;
    let ws = work.ws();
    if name == MAIN || name.starts_with("task/") || name.starts_with("plan/") {
        return Err(
            Fault::invalid("name", format!("{name} is kept for the server")).hint(
                "main and the branches of tasks and plans are there already; choose another name.",
            ),
        );
    }
    if branches::get(work.tx, ws, name)?.is_some() {
        return Err(Fault::conflict(format!("there is a branch {name} already"))
            .hint("branchmind_checkout switches to it; choose another name for a new one."));
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
        kind: BRANCH,
        handle: format!("branch:{name}"),
        data,
        ..Create::default()
    })?;
    let branch = json!({ "name": name, "base_branch": base, "base_seq": base_seq });
    Ok(json!({ "branch": branch }))
}

/// The fault of a name, under the name of the argument that it came in.
fn called(field: &str, mut fault: Fault) -> Fault {
    fault.message = fault.message.replacen("branch", field, 1);
    fault.details(json!({ "field": field }))
}

/// `branchmind_checkout`: the branch that calls mean when they name none.
pub fn checkout(work: &mut Work<'_, '_>, name: &str) -> Result<Value> {
    check_name(name).map_err(|fault| called("ref", fault))?;
    let ws = work.ws();
    place::check_branch(work.tx, ws, name)?;
    let previous = place::checkout(work.tx, ws)?;
    set_checkout(work, name)?;
    Ok(json!({ "previous": previous, "current": name }))
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
                kind: CHECKOUT_KIND,
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

/// `branchmind_branch_list`: the first branch, those that were made, and those of graph nodes, the
/// newest first.
pub fn list(
    view: Option<&mut View<'_, '_>>,
    workspace: &str,
    limit: i64,
    budget: &Budget,
) -> Result<Value> {
    let most = usize::try_from(limit).unwrap_or(0);
    let mut found = vec![json!({ "name": MAIN })];
    let mut current = MAIN.to_string();
    if let Some(view) = view {
        current = place::checkout(view.tx, view.ws)?;
        let made = branches::list(view.tx, view.ws, "", limit + 1)?;
        found.extend(made.iter().map(shown));
        if found.len() <= most {
            let room = limit + 1 - found.len() as i64;
            let nodes = entities::newest_of(view.tx, view.ws, crate::projection::NODE, room)?;
            found.extend(
                nodes
                    .iter()
                    .map(|handle| json!({ "name": canonical(handle) })),
            );
        }
    }
    let more = found.len() > most;
    found.truncate(most);
    Ok(fit_rows(&found, budget, |kept| {
        json!({
            "workspace": workspace,
            "current": current,
            "branches": kept,
            "truncated": more,
        })
    }))
}

fn shown(branch: &Branch) -> Value {
    json!({ "name": branch.name, "base_branch": branch.base, "base_seq": branch.base_seq })
}

/// `branchmind_status`: the newest item of the workspace.
pub fn status(view: Option<&mut View<'_, '_>>) -> Result<Map<String, Value>> {
    let mut status = Map::new();
    let Some(view) = view else {
        status.insert("current".into(), MAIN.into());
        return Ok(status);
    };
    status.insert("current".into(), place::checkout(view.tx, view.ws)?.into());
    let head = workspaces::head(view.tx, view.ws, false)?.map_or(0, |head| head.seq);
    if let Some(item) = items::get(view.tx, view.ws, head)? {
        status.insert("last_event_id".into(), item_name(&item.uuid).into());
        status.insert("last_event_ts".into(), item.realized_at.to_string().into());
        status.insert("last_seq".into(), item.seq.into());
    }
    Ok(status)
}
