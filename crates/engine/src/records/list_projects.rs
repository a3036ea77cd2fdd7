//! `list_projects`: every project of the workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::Result;

use super::project::Project;
use crate::View;
use crate::kernel::core::Thing;
use crate::kernel::project::all;

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
