//! Projects, which all surfaces share: which one a call means, and how one comes to be.

use serde_json::{Map, Value};
use understory_model::branch::node_of_branch;
use understory_model::error::{Fault, Result};
use understory_model::fact::{Fact, damaged};
use understory_model::item::Item;
use understory_model::text::quoted;
use understory_model::{Caller, Id, Ws, limits};
use understory_storage::entities::{self, Entity};
use understory_storage::projects::{self, Project};
use understory_storage::{ReadTx, Tx, branches};

use crate::kernel::core::Core;
use crate::kernel::project;
use crate::kernel::view::{Sought, missing};
use crate::kernel::work::Create;
use crate::kinds::EntityKind;
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
    check_name_in("project", name)
}

/// As [`check_name`], for an argument that has another name.
pub fn check_name_in(field: &str, name: &str) -> Result<()> {
    understory_model::text::check_text(field, name, limits::NAME_CHARS / 2, false)?;
    if name.trim() != name || name.chars().any(char::is_control) {
        return Err(
            Fault::invalid(field, "has spaces at an end or control characters")
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
        return projects::get(view.tx, view.ws, entity.id);
    }
    if name == caller.project {
        return Ok(None);
    }
    Err(unknown_among(view.tx, view.ws, name)?)
}

fn unknown_among(tx: &mut ReadTx<'_>, ws: Ws, name: &str) -> Result<Fault> {
    let there = all(tx, ws)?;
    let names = there.iter().map(|(_, entity)| name_of(&entity.handle));
    Ok(unknown(name, names))
}

fn unknown<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Fault {
    let mut fault = missing(Sought::Project, name, names);
    let hint = "graph_open or create_project with this name creates it.";
    fault.hint = Some(match fault.details {
        Some(_) => format!("{} {hint}", fault.hint.unwrap_or_default()),
        None => hint.to_string(),
    });
    fault
}

/// The project that a write means, made when it may be: when the caller says so, or when it is the
/// caller's own.
pub fn to_write(work: &mut Work<'_, '_>, named: Option<&str>, make: bool) -> Result<Id> {
    let name = named.unwrap_or(&work.caller.project).to_string();
    check_name(&name)?;
    match work.by_handle(&handle(&name))? {
        Some(project) if is_closed(&work.thing(project)?.data) => Err(closed(&name)),
        Some(project) => Ok(project),
        None if make || name == work.caller.project => {
            let mut data = Map::new();
            data.insert("name".into(), name.clone().into());
            create(work, &name, data)
        }
        None => {
            let ws = work.ws();
            Err(unknown_among(work.read()?, ws, &name)?)
        }
    }
}

/// The field that says since when a project is closed.
pub const CLOSED_AT: &str = "closed_at";

/// Whether the value of a project says that it is over.
pub fn is_closed(data: &Map<String, Value>) -> bool {
    data.get(CLOSED_AT).is_some_and(Value::is_string)
}

/// The fault for something new in a project that is over.
fn closed(name: &str) -> Fault {
    Fault::conflict(format!(
        "the project {} is closed and takes nothing new",
        quoted(name)
    ))
    .hint("garden_fossilize with this project and close: false opens it again.")
}

/// Refuses the name of a project that does not exist, for a write that needs none.
pub fn check_known(work: &mut Work<'_, '_>, named: Option<&str>) -> Result<()> {
    let Some(name) = named.filter(|name| **name != work.caller.project) else {
        return Ok(());
    };
    check_name(name)?;
    match work.by_handle(&handle(name))? {
        Some(_) => Ok(()),
        None => {
            let ws = work.ws();
            Err(unknown_among(work.read()?, ws, name)?)
        }
    }
}

/// Makes a project of this name and value.
pub fn create(work: &mut Work<'_, '_>, name: &str, data: Map<String, Value>) -> Result<Id> {
    work.create(Create {
        kind: EntityKind::Project,
        handle: handle(name),
        data,
        ..Create::default()
    })
}

/// All projects with their entities, oldest first.
pub fn all(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Vec<(Project, Entity)>> {
    let mut found = Vec::new();
    for project in projects::all(tx, ws)? {
        if let Some(entity) = entities::get(tx, ws, project.id)? {
            found.push((project, entity));
        }
    }
    Ok(found)
}

/// The project of a caller that names none.
const DEFAULT_PROJECT: &str = "default";

/// The project that a note or a card is about.
pub fn project_of(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<Option<Id>> {
    match Fact::read(item)? {
        Fact::NoteEntry(said) => project_of_branch(tx, core, &said.branch),
        Fact::GraphDelta(said) => project_of_branch(tx, core, &said.branch),
        _ => Err(damaged(item, "it is on no branch")),
    }
}

/// The project of what is written on a branch: that of the task or plan whose branch this one
/// descends from, else the default project. Its items name none.
pub fn project_of_branch(tx: &mut Tx<'_>, core: &mut Core, branch: &str) -> Result<Option<Id>> {
    let root = branches::get(tx, core.ws, branch)?.map(|branch| branch.root);
    let root = root.unwrap_or_else(|| branch.to_string());
    if let Some(handle) = node_of_branch(&root)
        && let Some(id) = core.by_handle(tx, handle)?
    {
        return Ok(core.thing(tx, id)?.and_then(|thing| thing.entity.project));
    }
    core.by_handle(tx, &project::handle(DEFAULT_PROJECT))
}
