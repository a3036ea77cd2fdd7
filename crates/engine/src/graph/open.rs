//! `graph_open`: the projects, or one of them, made when it is new.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::{Code, Fault, Result};
use understory_model::limits;
use understory_model::text::check_text;
use understory_storage::entities;
use understory_storage::projects::{self, Project};

use crate::graph::project::{self, Rooted};
use crate::graph::shape::{self, Counts, Listed, Node};
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;
use crate::kernel::work::Edit;
use crate::{View, Work};

/// The answer of `graph_open`: all projects, or one.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Opened {
    All(Projects),
    One(Box<Root>),
}

/// All projects.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Projects {
    pub projects: Vec<Listed>,
}

impl Fit for Projects {
    const SHAPE: Shape = Shape::List {
        list: "projects",
        drop: Drop::Last,
    };
}

/// A project with its root.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Root {
    pub root: Node,
    pub summary: Counts,
    /// Why the goal was not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_ignored: Option<String>,
}

impl Fit for Root {
    const SHAPE: Shape = Shape::Fields(&["/summary"]);
}

pub fn list(view: &mut View<'_, '_>) -> Result<Projects> {
    let projects = shape::project_list(view.tx, view.ws)?;
    Ok(Projects { projects })
}

/// A project, and the goal that it has unless there is one.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub name: String,
    pub goal: Option<String>,
}

impl Check for Wanted {
    fn check(&self) -> Result<()> {
        project::check_name(&self.name)?;
        match &self.goal {
            Some(goal) => check_text("goal", goal, limits::LINE_CHARS, false),
            None => Ok(()),
        }
    }
}

/// The project as it is; `None` when something has to be written: it has yet to be made, or its
/// goal to be set.
pub fn find(view: &mut View<'_, '_>, wanted: &Checked<Wanted>) -> Result<Option<Root>> {
    let goal = wanted.goal.as_deref();
    let handle = project::handle(&wanted.name);
    let Some(entity) = entities::by_handle(view.tx, view.ws, &handle)? else {
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

fn shown(root: &Thing, found: &Project, goal: Option<&str>) -> Root {
    let ignored = goal.filter(|goal| *goal != fields::summary(&root.data));
    let id = &root.entity.handle;
    Root {
        root: Node::new(root, None),
        summary: found.into(),
        goal_ignored: ignored.map(|_| {
            format!(
                "The project has a goal already: the summary of {id}. graph_update of {id} with a \
                 new summary changes it."
            )
        }),
    }
}

/// Makes the project, its root or its goal, unless somebody else just did.
pub fn create(work: &mut Work<'_, '_>, wanted: &Checked<Wanted>) -> Result<Root> {
    let (name, goal) = (wanted.name.as_str(), wanted.goal.as_deref());
    let rooted = match work.by_handle(&project::handle(name))? {
        Some(id) => project::rooted(work, id, goal)?,
        None => project::create(work, name, goal)?,
    };
    if let Some(goal) = goal {
        set_goal(work, &rooted, goal)?;
    }
    let ws = work.ws();
    let missing = || Fault::new(Code::Internal, "the project just made is not there");
    let found = projects::get(work.read()?, ws, rooted.project)?.ok_or_else(missing)?;
    let root = entities::get(work.read()?, ws, rooted.root)?.ok_or_else(missing)?;
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
