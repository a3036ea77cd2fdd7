//! Which project a call means, and how one comes to be.

use serde_json::{Map, Value, json};
use understory_model::error::{Fault, Result};
use understory_model::id::HandleKind;
use understory_model::{Caller, Id, limits};
use understory_storage::entities;
use understory_storage::nodes::{self, Project};

use crate::projection::{NODE, PROJECT};
use crate::view::{missing, projects};
use crate::work::Create;
use crate::{View, Work};

/// Projects share the space of handles with everything else, under this prefix.
const PREFIX: &str = "project:";

/// The handle of a project.
pub fn handle(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// The name that a caller gave a project.
pub fn name_of(handle: &str) -> &str {
    handle.strip_prefix(PREFIX).unwrap_or(handle)
}

pub fn check_name(name: &str) -> Result<()> {
    understory_model::text::check_text("project", name, limits::NAME_CHARS / 2, false)?;
    if name.trim() != name || name.chars().any(char::is_control) {
        return Err(
            Fault::invalid("project", "has spaces at an end or control characters")
                .hint("Use a short name such as my-app."),
        );
    }
    Ok(())
}

/// The project that a read means: the one named, else the caller's own. The caller's own need not
/// exist yet; any other must.
pub fn to_read(
    view: &mut View<'_, '_>,
    caller: &Caller,
    named: Option<&str>,
) -> Result<Option<Project>> {
    let name = named.unwrap_or(&caller.project);
    check_name(name)?;
    if let Some(entity) = entities::by_handle(view.tx, view.ws, &handle(name))? {
        return nodes::project(view.tx, view.ws, entity.id);
    }
    if name == caller.project {
        return Ok(None);
    }
    let all = projects(view.tx, view.ws)?;
    Err(unknown(
        name,
        all.iter().map(|(_, entity)| name_of(&entity.handle)),
    ))
}

/// The fault for a read before the workspace's first write.
pub fn nothing_yet(caller: &Caller, named: Option<&str>) -> Result<()> {
    match named {
        Some(name) if name != caller.project => Err(unknown(name, [])),
        _ => Ok(()),
    }
}

fn unknown<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Fault {
    let mut fault = missing("project", name, names);
    let hint = "graph_open with this name creates it.";
    fault.hint = Some(match fault.details {
        Some(_) => format!("{} {hint}", fault.hint.unwrap_or_default()),
        None => hint.to_string(),
    });
    fault
}

/// A project and its root node.
pub struct Rooted {
    pub project: Id,
    pub root: Id,
}

/// The project that a write means, made with its root when it may be: when the caller says so, or
/// when it is the caller's own.
pub fn to_write(work: &mut Work<'_, '_>, named: Option<&str>, make: bool) -> Result<Rooted> {
    let name = named.unwrap_or(&work.caller.project).to_string();
    check_name(&name)?;
    match work.core.by_handle(work.tx, &handle(&name))? {
        Some(project) => rooted(work, project, &name),
        None if make || name == work.caller.project => create(work, &name, None),
        None => {
            let ws = work.ws();
            let all = projects(work.tx, ws)?;
            Err(unknown(
                &name,
                all.iter().map(|(_, entity)| name_of(&entity.handle)),
            ))
        }
    }
}

fn rooted(work: &mut Work<'_, '_>, project: Id, name: &str) -> Result<Rooted> {
    match work
        .core
        .project(work.tx, project)?
        .and_then(|row| row.root)
    {
        Some(root) => Ok(Rooted { project, root }),
        None => {
            let root = create_root(work, project, name)?;
            Ok(Rooted { project, root })
        }
    }
}

/// Makes a project with its root.
pub fn create(work: &mut Work<'_, '_>, name: &str, goal: Option<&str>) -> Result<Rooted> {
    let mut data = Map::new();
    data.insert("name".into(), name.into());
    if let Some(goal) = goal {
        data.insert("goal".into(), goal.into());
    }
    let project = work.create(Create {
        kind: PROJECT,
        handle: handle(name),
        project: None,
        parent: None,
        data,
        links: Vec::new(),
    })?;
    let root = create_root(work, project, goal.unwrap_or(name))?;
    Ok(Rooted { project, root })
}

fn create_root(work: &mut Work<'_, '_>, project: Id, summary: &str) -> Result<Id> {
    let number = work.core.next_number(work.tx, HandleKind::Plan)?;
    work.create(Create {
        kind: NODE,
        handle: HandleKind::Plan.handle(number),
        project: Some(project),
        parent: None,
        data: new_data(summary, json!({}), json!([])),
        links: Vec::new(),
    })
}

/// The value of a node that was just made.
pub fn new_data(summary: &str, properties: Value, context_links: Value) -> Map<String, Value> {
    let mut data = Map::new();
    data.insert("summary".into(), summary.into());
    data.insert("resolved".into(), false.into());
    data.insert("properties".into(), properties);
    data.insert("context_links".into(), context_links);
    data.insert("evidence".into(), json!([]));
    data
}
