//! `graph_open`: the projects, or one of them, made when it is new.

use serde_json::{Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::limits;
use understory_storage::entities;
use understory_storage::projects::{self, Project};

use crate::graph::{project, shape};
use crate::{View, Work};

pub fn list(view: Option<&mut View<'_, '_>>) -> Result<Value> {
    let projects = match view {
        Some(view) => shape::project_list(view.tx, view.ws)?,
        None => Vec::new(),
    };
    Ok(json!({ "projects": projects }))
}

/// The project as it is; `None` when it has yet to be made.
pub fn find(view: Option<&mut View<'_, '_>>, name: &str) -> Result<Option<Value>> {
    let Some(view) = view else { return Ok(None) };
    let Some(entity) = entities::by_handle(view.tx, view.ws, &project::handle(name))? else {
        return Ok(None);
    };
    match projects::get(view.tx, view.ws, entity.id)? {
        Some(found) => shown(view, &found),
        None => Ok(None),
    }
}

fn shown(view: &mut View<'_, '_>, found: &Project) -> Result<Option<Value>> {
    let Some(root) = found.root else {
        return Ok(None);
    };
    let root = shape::load(view.tx, view.ws, root)?;
    Ok(Some(
        json!({ "root": root, "summary": shape::counts(found) }),
    ))
}

/// Makes the project unless somebody else just did.
pub fn create(work: &mut Work<'_, '_>, name: &str, goal: Option<&str>) -> Result<Value> {
    let rooted = match work.core.by_handle(work.tx, &project::handle(name))? {
        Some(_) => project::to_write(work, Some(name), true)?,
        None => project::create(work, name, goal)?,
    };
    work.flush()?;
    let ws = work.ws();
    let root = shape::load(work.tx, ws, rooted.root)?;
    let found = projects::get(work.tx, ws, rooted.project)?
        .ok_or_else(|| Fault::new(Code::Internal, "the project just made is not there"))?;
    Ok(json!({ "root": root, "summary": shape::counts(&found) }))
}

pub fn check(name: &str, goal: Option<&str>) -> Result<()> {
    project::check_name(name)?;
    if let Some(goal) = goal {
        understory_model::text::check_text("goal", goal, limits::LINE_CHARS, false)?;
    }
    Ok(())
}
