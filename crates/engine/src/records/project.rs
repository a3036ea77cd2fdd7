//! `create_project`, `list_projects` and `get_project`.

use serde_json::{Map, Value, json};
use understory_model::error::{Fault, Result};
use understory_model::text::{check_text, quoted, slug};
use understory_model::{Caller, Time, limits};
use understory_storage::entities::{self, Entity};
use understory_storage::projects::{self, Project};

use super::fields;
use crate::core::Thing;
use crate::project::{all, check_name_in, create as create_entity, handle, name_of, nothing_yet};
use crate::{View, Work};

/// Names that are tried for a project that was given none.
const TRIES: usize = 10_000;

/// A project as the wire shows it. What was made by `graph_open` has a goal for a description.
fn shown(project: &Project, thing: &Thing) -> Value {
    let mut shown = Map::new();
    shown.insert("id".into(), name_of(&thing.entity.handle).into());
    shown.insert("name".into(), fields::text(&thing.data, "name").into());
    if let Some(description) = description(thing) {
        shown.insert("description".into(), description.into());
    }
    shown.insert("created".into(), thing.entity.created_at.to_string().into());
    shown.insert("tick".into(), project.tick.into());
    Value::Object(shown)
}

pub fn description(thing: &Thing) -> Option<&str> {
    ["description", "goal"]
        .iter()
        .find_map(|field| thing.data.get(*field).and_then(Value::as_str))
}

pub fn check(name: &str, id: Option<&str>, description: Option<&str>) -> Result<()> {
    check_text("name", name, limits::LINE_CHARS, false)?;
    if let Some(id) = id {
        check_name_in("id", id)?;
    }
    if let Some(description) = description {
        check_text("description", description, limits::TEXT_CHARS, true)?;
    }
    Ok(())
}

pub fn create(
    work: &mut Work<'_, '_>,
    name: &str,
    id: Option<&str>,
    description: Option<&str>,
) -> Result<Value> {
    let id = match id {
        Some(id) => {
            if work.core.by_handle(work.tx, &handle(id))?.is_some() {
                return Err(
                    Fault::conflict(format!("there is a project {} already", quoted(id)))
                        .details(json!({ "id": id }))
                        .hint("get_project shows it; choose another id for a new one."),
                );
            }
            id.to_string()
        }
        None => free_id(work, name)?,
    };
    let mut data = Map::new();
    data.insert("name".into(), name.into());
    if let Some(description) = description {
        data.insert("description".into(), description.into());
    }
    let made = create_entity(work, &id, data)?;
    let thing = work.thing(made)?.clone();
    Ok(shown(&Project::default(), &thing))
}

/// An id made from the name: its words, and a number where they are taken.
fn free_id(work: &mut Work<'_, '_>, name: &str) -> Result<String> {
    let mut base = slug(name);
    if base.is_empty() {
        base = "project".into();
    }
    let base: String = base.chars().take(60).collect();
    let base = base.trim_end_matches('-');
    for attempt in 1..=TRIES {
        let id = match attempt {
            1 => base.to_string(),
            _ => format!("{base}-{attempt}"),
        };
        if work.core.by_handle(work.tx, &handle(&id))?.is_none() {
            return Ok(id);
        }
    }
    Err(Fault::conflict(format!("too many projects are named {base}")).hint("Give an id."))
}

pub fn list(view: Option<&mut View<'_, '_>>) -> Result<Value> {
    let mut found = Vec::new();
    if let Some(view) = view {
        for (project, entity) in all(view.tx, view.ws)? {
            found.push(listed(&project, entity)?);
        }
    }
    Ok(json!({ "projects": found }))
}

fn listed(project: &Project, entity: Entity) -> Result<Value> {
    let mut shown = shown(project, &Thing::open(entity)?);
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("created");
    }
    shown["open_sessions"] = project.open_sessions.into();
    shown["open_records"] = project.open_records.into();
    Ok(shown)
}

/// The project that is meant; one that is the caller's own and was never written to is shown as it
/// would be.
pub fn get(
    view: Option<&mut View<'_, '_>>,
    caller: &Caller,
    named: Option<&str>,
    now: Time,
) -> Result<Value> {
    let found = match view {
        Some(view) => find(view, caller, named)?,
        None => {
            nothing_yet(caller, named)?;
            None
        }
    };
    Ok(match found {
        Some((project, thing)) => shown(&project, &thing),
        None => {
            let name = named.unwrap_or(&caller.project);
            json!({ "id": name, "name": name, "created": now.to_string(), "tick": 0 })
        }
    })
}

/// The project that a read means, with its value; `None` before its first write.
pub fn find(
    view: &mut View<'_, '_>,
    caller: &Caller,
    named: Option<&str>,
) -> Result<Option<(Project, Thing)>> {
    let Some(project) = crate::project::to_read(view, caller, named)? else {
        return Ok(None);
    };
    let entity = entities::get(view.tx, view.ws, project.id)?;
    match entity {
        Some(entity) => Ok(Some((project, Thing::open(entity)?))),
        None => Ok(None),
    }
}

/// Refuses a record that is not in the project that is named beside it.
pub fn check_holds(view: &mut View<'_, '_>, named: Option<&str>, record: &Thing) -> Result<()> {
    let Some(named) = named else { return Ok(()) };
    let project = entities::by_handle(view.tx, view.ws, &handle(named))?;
    match project.map(|project| project.id) == record.entity.project {
        true => Ok(()),
        false => Err(not_in(&record.entity.handle, named)),
    }
}

/// The fault for a record that is not in the project that is named beside it.
pub fn not_in(record: &str, project: &str) -> Fault {
    Fault::invalid(
        "project_id",
        format!("{record} is not in {}", quoted(project)),
    )
    .hint("Leave project_id out: the record says which project is meant.")
}

/// A project by id, where the record that was asked for says which.
pub fn of(view: &mut View<'_, '_>, id: Option<i64>) -> Result<Project> {
    let found = match id {
        Some(id) => projects::get(view.tx, view.ws, id)?,
        None => None,
    };
    Ok(found.unwrap_or_default())
}
