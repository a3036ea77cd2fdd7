//! `graph_open`: the projects, or one of them, made when it is new.

use serde_json::{Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::limits;
use understory_storage::entities;
use understory_storage::projects::{self, Project};

use crate::core::Thing;
use crate::graph::project::Rooted;
use crate::graph::{fields, project, shape};
use crate::work::Edit;
use crate::{View, Work};

pub fn list(view: Option<&mut View<'_, '_>>) -> Result<Value> {
    let projects = match view {
        Some(view) => shape::project_list(view.tx, view.ws)?,
        None => Vec::new(),
    };
    Ok(json!({ "projects": projects }))
}

/// The project as it is; `None` when something has to be written: it has yet to be made, or its
/// goal to be set.
pub fn find(
    view: Option<&mut View<'_, '_>>,
    name: &str,
    goal: Option<&str>,
) -> Result<Option<Value>> {
    let Some(view) = view else { return Ok(None) };
    let Some(entity) = entities::by_handle(view.tx, view.ws, &project::handle(name))? else {
        return Ok(None);
    };
    let found = projects::get(view.tx, view.ws, entity.id)?;
    let Some((found, root)) = found.and_then(|found| found.root.map(|root| (found, root))) else {
        return Ok(None);
    };
    let Some(root) = entities::get(view.tx, view.ws, root)? else {
        return Ok(None);
    };
    let (project, root) = (Thing::open(entity)?, Thing::open(root)?);
    if goal.is_some_and(|goal| is_to_set(&project, &root, goal)) {
        return Ok(None);
    }
    Ok(Some(shown(&root, &found, goal)))
}

/// Whether a goal that comes late is the project's first.
fn is_to_set(project: &Thing, root: &Thing, goal: &str) -> bool {
    fields::summary(&root.data) != goal && project::has_no_goal(&project.data, &root.data)
}

fn shown(root: &Thing, found: &Project, goal: Option<&str>) -> Value {
    let node = shape::node(root, None);
    let mut answer = json!({ "root": node, "summary": shape::counts(found) });
    if goal.is_some_and(|goal| goal != fields::summary(&root.data)) {
        let id = &root.entity.handle;
        answer["goal_ignored"] = format!(
            "The project has a goal already: the summary of {id}. graph_update of {id} with a new \
             summary changes it."
        )
        .into();
    }
    answer
}

/// Makes the project, its root or its goal, unless somebody else just did.
pub fn create(work: &mut Work<'_, '_>, name: &str, goal: Option<&str>) -> Result<Value> {
    let rooted = match work.core.by_handle(work.tx, &project::handle(name))? {
        Some(id) => project::rooted(work, id, goal)?,
        None => project::create(work, name, goal)?,
    };
    if let Some(goal) = goal {
        set_goal(work, &rooted, goal)?;
    }
    work.flush()?;
    let ws = work.ws();
    let missing = || Fault::new(Code::Internal, "the project just made is not there");
    let found = projects::get(work.tx, ws, rooted.project)?.ok_or_else(missing)?;
    let root = entities::get(work.tx, ws, rooted.root)?.ok_or_else(missing)?;
    Ok(shown(&Thing::open(root)?, &found, goal))
}

fn set_goal(work: &mut Work<'_, '_>, rooted: &Rooted, goal: &str) -> Result<()> {
    let project = work.thing(rooted.project)?.clone();
    let root = work.thing(rooted.root)?.clone();
    if !is_to_set(&project, &root, goal) {
        return Ok(());
    }
    let mut data = root.data;
    data.insert("summary".into(), goal.into());
    work.change(
        rooted.root,
        Edit {
            action: "updated",
            data: Some(data),
            ..Edit::default()
        },
    )?;
    Ok(())
}

pub fn check(name: &str, goal: Option<&str>) -> Result<()> {
    project::check_name(name)?;
    if let Some(goal) = goal {
        understory_model::text::check_text("goal", goal, limits::LINE_CHARS, false)?;
    }
    Ok(())
}
