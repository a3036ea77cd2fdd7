//! `create_project`, `list_projects` and `get_project`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::error::{Fault, Result};
use understory_model::text::quoted;
use understory_model::{Id, Time};
use understory_storage::entities;
use understory_storage::projects::{self, Project as Row};

use crate::View;
use crate::kernel::core::Thing;
use crate::kernel::project::{handle, name_of};

/// What a project's value says of it. What was made by `graph_open` has a goal for a description.
#[derive(Deserialize)]
pub(super) struct About {
    #[serde(default)]
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) goal: Option<String>,
}

impl About {
    pub(super) fn of(thing: &Thing) -> About {
        // A field of another kind is one that the project's tools never write.
        About::deserialize(&thing.data).unwrap_or(About {
            name: String::new(),
            description: None,
            goal: None,
        })
    }

    pub(super) fn description(self) -> Option<String> {
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
    let Some(project) = crate::kernel::project::to_read(view, caller, named)? else {
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
    if project.map(|project| project.id) == record.entity.project {
        Ok(())
    } else {
        Err(not_in(&record.entity.handle, named))
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
pub fn of(view: &mut View<'_, '_>, id: Option<Id>) -> Result<Row> {
    let found = match id {
        Some(id) => projects::get(view.tx, view.ws, id)?,
        None => None,
    };
    Ok(found.unwrap_or_default())
}
