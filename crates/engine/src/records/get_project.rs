//! `get_project`: one project, with what is counted of it.

use understory_model::error::Result;

use super::project::{Project, find};
use crate::View;

/// The project that is meant; one that is the caller's own and was never written to is shown as it
/// would be.
pub fn get(view: &mut View<'_, '_>, named: Option<&str>) -> Result<Project> {
    Ok(match find(view, named)? {
        Some((row, thing)) => Project::of(&row, &thing),
        None => Project::unwritten(view, named),
    })
}
