//! Making, listing and checking out branches; the state of the workspace's reasoning.

use serde_json::{Map, Value, json};
use understory_model::Id;
use understory_model::branch::check_name;
use understory_model::budget::{Budget, fit_rows};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::item_name;
use understory_model::page::unknown_cursor;
use understory_model::text::quoted;
use understory_storage::branches::{self, Branch};
use understory_storage::{entities, items, workspaces};

use super::docs;
use super::place::{self, CHECKOUT, Checkout, MAIN, canonical};
use crate::kinds::EntityKind;
use crate::work::{Create, Edit};
use crate::{View, Work};

/// `branchmind_branch_create`: a branch from what another shows now.
pub fn create(work: &mut Work<'_, '_>, name: &str, from: Option<&str>) -> Result<Value> {
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
    let previous = place::checked_out(work.tx, ws)?;
    set_checkout(work, name)?;
    Ok(json!({
        "previous": previous.current,
        "previous_by": previous.checked_out_by,
        "current": name,
        "note": "This is the checkout of the workspace: calls of all its agents that name no branch mean it.",
    }))
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

/// `branchmind_branch_list`: the first branch, those that were made, by name, and those of graph
/// nodes, the newest first.
pub fn list(
    view: Option<&mut View<'_, '_>>,
    workspace: &str,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let (mut found, checkout, (made, tasks)) = match view {
        Some(view) => {
            let counts = branches::counts(view.tx, view.ws)?;
            let found = after(view, asked)?;
            (found, place::checked_out(view.tx, view.ws)?, counts)
        }
        None => {
            let found = match asked.cursor.as_deref() {
                None => vec![json!({ "name": MAIN })],
                Some(MAIN) => Vec::new(),
                Some(_) => return Err(unknown_cursor()),
            };
            (found, Checkout::default(), (0, 0))
        }
    };
    let more = found.len() > most;
    found.truncate(most);
    Ok(fit_rows(&found, budget, |kept| {
        let more = more || kept.len() < found.len();
        let mut pagination = json!({
            "cursor": asked.cursor,
            "has_more": more,
            "limit": asked.limit,
            "count": kept.len(),
        });
        if let Some(last) = kept.last().filter(|_| more) {
            pagination["next_cursor"] = last["name"].clone();
        }
        let mut answer = json!({
            "workspace": workspace,
            "branches": kept,
            "counts": { "made": made, "plans_and_tasks": tasks },
            "pagination": pagination,
            "truncated": more,
        });
        tell(&mut answer, &checkout);
        answer
    }))
}

/// One more than a page of branches after the cursor.
fn after(view: &mut View<'_, '_>, asked: &Asked) -> Result<Vec<Value>> {
    let (tx, ws, most) = (&mut *view.tx, view.ws, asked.limit + 1);
    let mut found = Vec::new();
    let (mut name, mut node) = (Some(String::new()), Id::MAX);
    match asked.cursor.as_deref() {
        None => found.push(json!({ "name": MAIN })),
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
        found.extend(made.iter().map(shown));
    }
    let room = most - found.len() as i64;
    if room > 0 {
        let nodes = entities::newest_of(tx, ws, crate::projection::NODE, node, room)?;
        let named = nodes.iter().map(|handle| canonical(handle));
        found.extend(named.map(|name| json!({ "name": name })));
    }
    Ok(found)
}

/// Says which branch is checked out, and by whom.
fn tell(answer: &mut Value, checkout: &Checkout) {
    if let (Some(answer), Ok(Value::Object(told))) =
        (answer.as_object_mut(), serde_json::to_value(checkout))
    {
        answer.extend(told);
    }
}

fn shown(branch: &Branch) -> Value {
    json!({ "name": branch.name, "base_branch": branch.base, "base_seq": branch.base_seq })
}

/// `branchmind_status`: the newest item of the workspace, and one branch with its documents.
pub fn status(view: Option<&mut View<'_, '_>>, branch: Option<&str>) -> Result<Value> {
    let mut status = json!({});
    let Some(view) = view else {
        if let Some(name) = branch.filter(|name| *name != MAIN) {
            return Err(place::unknown_branch(name, &[MAIN.to_string()]));
        }
        tell(&mut status, &Checkout::default());
        return Ok(status);
    };
    if let Some(name) = branch {
        status["branch"] = docs::shown(view.tx, view.ws, name)?;
    }
    tell(&mut status, &place::checked_out(view.tx, view.ws)?);
    let head = workspaces::head(view.tx, view.ws, false)?.map_or(0, |head| head.seq);
    if let Some(item) = items::get(view.tx, view.ws, head)? {
        status["last_event_id"] = item_name(&item.uuid).into();
        status["last_event_ts"] = item.realized_at.to_string().into();
        status["last_seq"] = item.seq.into();
    }
    Ok(status)
}
