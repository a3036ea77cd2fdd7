//! `create_project`, `list_projects` and `get_project`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::{Fault, Result};
use understory_model::text::{check_text, quoted, slug};
use understory_model::{Time, limits};
use understory_storage::entities;
use understory_storage::projects::{self, Project as Row};

use crate::core::Thing;
use crate::project::{all, check_name_in, create as create_entity, handle, name_of};
use crate::{View, Work};

/// Names that are tried for a project that was given none.
const TRIES: usize = 10_000;

/// What a project's value says of it. What was made by `graph_open` has a goal for a description.
#[derive(Deserialize)]
struct About {
    #[serde(default)]
    name: String,
    description: Option<String>,
    goal: Option<String>,
}

impl About {
    fn of(thing: &Thing) -> About {
        // A field of another kind is one that the project's tools never write.
        About::deserialize(&thing.data).unwrap_or(About {
            name: String::new(),
            description: None,
            goal: None,
        })
    }

    fn description(self) -> Option<String> {
        self.description.or(self.goal)
    }
}

/// A project, as `create_project` and `get_project` answer it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    pub id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub created: Time,
    /// The count of its writes.
    pub tick: i64,
}

impl Fit for Project {
    const SHAPE: Shape = Shape::Whole;
}

impl Project {
    pub(super) fn of(row: &Row, thing: &Thing) -> Project {
        let about = About::of(thing);
        Project {
            id: name_of(&thing.entity.handle).to_string(),
            name: about.name.clone(),
            description: about.description(),
            created: thing.entity.created_at,
            tick: row.tick,
        }
    }
}

/// The answer of `list_projects`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Projects {
    pub projects: Vec<Listed>,
}

/// A project, and what is open in it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    pub id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub tick: i64,
    pub open_sessions: i64,
    pub open_records: i64,
}

impl Fit for Projects {
    const SHAPE: Shape = Shape::List {
        list: "projects",
        drop: Drop::Last,
    };
}

/// A new project whose name, id and description were checked.
#[derive(Debug, Clone)]
pub struct NewProject {
    name: String,
    id: Option<String>,
    description: Option<String>,
}

impl NewProject {
    pub fn new(
        name: String,
        id: Option<String>,
        description: Option<String>,
    ) -> Result<NewProject> {
        check_text("name", &name, limits::LINE_CHARS, false)?;
        if let Some(id) = &id {
            check_name_in("id", id)?;
        }
        if let Some(description) = &description {
            check_text("description", description, limits::TEXT_CHARS, true)?;
        }
        Ok(NewProject {
            name,
            id,
            description,
        })
    }
}

pub fn create(work: &mut Work<'_, '_>, new: &NewProject) -> Result<Project> {
    let id = match &new.id {
        Some(id) => {
            if work.core.by_handle(work.tx, &handle(id))?.is_some() {
                return Err(
                    Fault::conflict(format!("there is a project {} already", quoted(id)))
                        .detail("id", id.as_str())
                        .hint("get_project shows it; choose another id for a new one."),
                );
            }
            id.clone()
        }
        None => free_id(work, &new.name)?,
    };
    let mut data = Map::new();
    data.insert("name".into(), new.name.as_str().into());
    if let Some(description) = &new.description {
        data.insert("description".into(), description.as_str().into());
    }
    let made = create_entity(work, &id, data)?;
    Ok(Project::of(&Row::default(), work.thing(made)?))
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

pub fn list(view: &mut View<'_, '_>) -> Result<Projects> {
    let mut projects = Vec::new();
    for (row, entity) in all(view.tx, view.ws)? {
        let shown = Project::of(&row, &Thing::open(entity)?);
        projects.push(Listed {
            id: shown.id,
            name: shown.name,
            description: shown.description,
            tick: shown.tick,
            open_sessions: row.open_sessions,
            open_records: row.open_records,
        });
    }
    Ok(Projects { projects })
}

/// The project that is meant; one that is the caller's own and was never written to is shown as it
/// would be.
pub fn get(view: &mut View<'_, '_>, named: Option<&str>) -> Result<Project> {
    Ok(match find(view, named)? {
        Some((row, thing)) => Project::of(&row, &thing),
        None => Project::unwritten(view, named),
    })
}

impl Project {
    /// A project that nothing was written to yet.
    pub(super) fn unwritten(view: &View<'_, '_>, named: Option<&str>) -> Project {
        let name = named.unwrap_or(&view.caller.project);
        Project {
            id: name.to_string(),
            name: name.to_string(),
            description: None,
            created: view.now,
            tick: 0,
        }
    }
}

/// The project that a read means, with its value; `None` before its first write.
pub fn find(view: &mut View<'_, '_>, named: Option<&str>) -> Result<Option<(Row, Thing)>> {
    let caller = view.caller;
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
pub fn of(view: &mut View<'_, '_>, id: Option<i64>) -> Result<Row> {
    let found = match id {
        Some(id) => projects::get(view.tx, view.ws, id)?,
        None => None,
    };
    Ok(found.unwrap_or_default())
}
