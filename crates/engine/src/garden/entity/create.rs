//! `garden_entity_create`: something new that is believed.

use serde_json::{Map, Value};
use understory_model::error::{Fault, Result};
use understory_model::limits;
use understory_model::text::check_text;

use super::{Changed, check_data, link, shown};
use crate::Work;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::relation::{DERIVED_FROM, GROUP};
use crate::kernel::work::Create;
use crate::kernel::{names, project};
use crate::kinds::EntityKind;

/// An entity to be made.
#[derive(Debug, Clone)]
pub struct New {
    pub kind: String,
    pub data: Map<String, Value>,
    pub group_id: Option<String>,
    pub derived_from: Option<String>,
    pub project: Option<String>,
}

impl Check for New {
    fn check(&self) -> Result<()> {
        check_text("type", &self.kind, limits::NAME_CHARS, false)?;
        if EntityKind::of(&self.kind).is_own() {
            let problem = format!("{} has tools of its own", self.kind);
            return Err(Fault::invalid("type", problem).hint("Use another name."));
        }
        check_data(&self.data)
    }
}

pub fn create(work: &mut Work<'_, '_>, new: &Checked<New>) -> Result<Changed> {
    let project = project::to_write(work, new.project.as_deref(), false)?;
    let scope = work.scope()?;
    let mut links = Vec::new();
    for (relation, named) in [(GROUP, &new.group_id), (DERIVED_FROM, &new.derived_from)] {
        if let Some(named) = named {
            let to = names::entity(work.read()?, scope, relation, named)?;
            links.push(link(relation, to));
        }
    }
    let id = work.create(Create {
        kind: EntityKind::of(&new.kind),
        project: Some(project),
        data: new.data.clone(),
        links,
        ..Create::default()
    })?;
    shown(work, id)
}
