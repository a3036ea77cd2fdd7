//! The root node of a project, made when the graph first needs one.

use serde_json::{Map, Value};
use understory_model::Id;
use understory_model::answer::fields_of;
use understory_model::error::Result;
use understory_model::id::HandleKind;

use crate::Work;
use crate::kernel::content::node::{self as fields, NewNode};
use crate::kernel::project;
use crate::kernel::work::Create;
use crate::kinds::EntityKind;

pub use crate::kernel::project::check_known;
pub use crate::kernel::project::check_name;
pub use crate::kernel::project::handle;
pub use crate::kernel::project::name_of;
pub use crate::kernel::project::to_read;

/// A project and its root node.
pub struct Rooted {
    pub project: Id,
    pub root: Id,
}

/// The project that a write means, made with its root when it may be: when the caller says so, or
/// when it is the caller's own.
pub fn to_write(work: &mut Work<'_, '_>, named: Option<&str>, make: bool) -> Result<Rooted> {
    let project = project::to_write(work, named, make)?;
    rooted(work, project, None)
}

/// The root of a project, made where there is none yet, with the goal if there is one.
pub fn rooted(work: &mut Work<'_, '_>, project: Id, goal: Option<&str>) -> Result<Rooted> {
    let row = work.project_row(project)?;
    if let Some(root) = row.and_then(|row| row.root) {
        return Ok(Rooted { project, root });
    }
    let data = &work.thing(project)?.data;
    let said = ["goal", "description", "name"]
        .iter()
        .find_map(|field| data.get(*field).and_then(Value::as_str))
        .unwrap_or_default()
        .to_string();
    let root = create_root(work, project, goal.unwrap_or(&said))?;
    Ok(Rooted { project, root })
}

/// Whether a root still says only what its project is called: nobody has given it a goal.
pub fn has_no_goal(project: &Map<String, Value>, root: &Map<String, Value>) -> bool {
    let text = |field: &str| project.get(field).and_then(Value::as_str);
    let summary = Some(fields::summary(root));
    text("goal").is_none() && (summary == text("name") || summary == text("description"))
}

/// Makes a project with its root.
pub fn create(work: &mut Work<'_, '_>, name: &str, goal: Option<&str>) -> Result<Rooted> {
    let mut data = Map::new();
    data.insert("name".into(), name.into());
    if let Some(goal) = goal {
        data.insert("goal".into(), goal.into());
    }
    let project = project::create(work, name, data)?;
    rooted(work, project, goal)
}

fn create_root(work: &mut Work<'_, '_>, project: Id, summary: &str) -> Result<Id> {
    let number = work.next_number(HandleKind::Plan)?;
    work.create(Create {
        kind: EntityKind::Node,
        handle: HandleKind::Plan.handle(number),
        project: Some(project),
        parent: None,
        data: fields_of(&NewNode {
            summary,
            ..NewNode::default()
        })?,
        ..Create::default()
    })
}
