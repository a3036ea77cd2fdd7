//! What a person means by a name.

use understory_model::Id;
use understory_model::branch::node_of_branch;
use understory_model::error::Result;
use understory_model::id::{HandleKind, parse_name};
use understory_storage::{entities, items};

use crate::View;
use crate::kernel::view::{Sought, missing};
use crate::kernel::{names, project};
use crate::kinds::{BRANCH, CHECKOUT as CHECKOUT_KIND, CONFLICT, PROJECT, RECORD};

/// What the handle of a branch begins with.
const BRANCH_PREFIX: &str = "branch:";

/// A project by its name.
pub fn project(view: &mut View<'_, '_>, name: &str) -> Result<Id> {
    let handle = project::handle(name);
    match entities::by_handle(view.tx, view.ws, &handle)? {
        Some(entity) => Ok(entity.id),
        None => {
            let all = project::all(view.tx, view.ws)?;
            let names = all
                .iter()
                .map(|(_, entity)| project::name_of(&entity.handle));
            Err(missing(Sought::Project, name, names))
        }
    }
}

/// An entity that a person named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub id: Id,
    pub kind: String,
    pub handle: String,
}

impl Found {
    pub fn is_record(&self) -> bool {
        self.kind == RECORD
    }

    pub fn is_conflict(&self) -> bool {
        self.kind == CONFLICT
    }

    pub fn is_checkout(&self) -> bool {
        self.kind == CHECKOUT_KIND
    }

    /// The name of a branch, if it is one that was made.
    pub fn branch(&self) -> Option<&str> {
        self.handle
            .strip_prefix(BRANCH_PREFIX)
            .filter(|_| self.kind == BRANCH)
    }

    /// The name of a project, if it is one.
    pub fn project(&self) -> Option<&str> {
        (self.kind == PROJECT).then(|| project::name_of(&self.handle))
    }
}

/// An entity by its handle, by `entity_<uuid>`, or by any item that changed it. People type
/// `task-1` or `r1` and mean `TASK-001` or `R001`, and name a project or a branch by its name
/// alone.
pub fn find(view: &mut View<'_, '_>, name: &str) -> Result<Found> {
    let mut entity = match parse_name(name) {
        Some(uuid) => match items::by_uuid(view.tx, view.ws, &uuid)?.and_then(|i| i.entity) {
            Some(id) => view.entity(id)?,
            None => None,
        },
        None => None,
    };
    for handle in meant(name) {
        if entity.is_none() {
            entity = entities::by_handle(view.tx, view.ws, &handle)?;
        }
    }
    let scope = view.scope(None)?;
    if entity.is_none()
        && let Some(names::Found::Entity(found)) = names::look(view.tx, scope, name)?
    {
        entity = Some(*found);
    }
    match entity {
        Some(entity) => Ok(Found {
            id: entity.id,
            kind: entity.kind,
            handle: entity.handle,
        }),
        None => Err(names::nothing(view.tx, scope, "id", name)?),
    }
}

/// The handles that a name may stand for, the likeliest first.
fn meant(name: &str) -> Vec<String> {
    let mut handles = spellings(name);
    handles.push(project::handle(name));
    handles.push(format!("{BRANCH_PREFIX}{name}"));
    handles.extend(node_of_branch(name).map(str::to_string));
    handles
}

/// A handle as people type it, and as it is: `task-1` is `TASK-001`, `r1` is `R001`, `TH_1` is
/// `th_001`.
pub fn spellings(name: &str) -> Vec<String> {
    let upper = name.to_uppercase();
    let mut handles = vec![name.to_string(), upper.clone()];
    for kind in HandleKind::ALL {
        let prefix = kind.prefix().to_uppercase();
        let digits = upper.strip_prefix(&prefix).unwrap_or_default();
        if digits.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(number) = digits.parse()
        {
            handles.push(kind.handle(number));
        }
    }
    handles
}
