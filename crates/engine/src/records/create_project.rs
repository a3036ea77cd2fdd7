//! `create_project`: a project, which all surfaces share.

use serde_json::Map;
use understory_model::error::{Fault, Result};
use understory_model::limits;
use understory_model::text::{check_text, quoted, slug};
use understory_storage::projects::Project as Row;

use super::project::Project;
use crate::Work;
use crate::kernel::project::{check_name_in, create as create_entity, handle};

/// Names that are tried for a project that was given none.
const TRIES: usize = 10_000;

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
            if work.by_handle(&handle(id))?.is_some() {
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
        if work.by_handle(&handle(&id))?.is_none() {
            return Ok(id);
        }
    }
    Err(Fault::conflict(format!("too many projects are named {base}")).hint("Give an id."))
}
