//! `garden_artifact_create`: a label, and perhaps a first text.

use serde_json::{Map, Value};
use understory_model::Id;
use understory_model::error::{Fault, Result};
use understory_storage::artifacts;

use crate::Work;
use crate::garden::artifact::commit::{self, Given};
use crate::garden::artifact::{Made, check_label, write};
use crate::garden::conversation;
use crate::kernel::artifact::{LABEL_HISTORY, load};
use crate::kernel::checked::{Check, Checked};
use crate::kernel::project;
use crate::kernel::work::Create;
use crate::kinds::{ARTIFACT_CREATED, EntityKind};

/// An artifact to be made.
#[derive(Debug, Clone)]
pub struct New {
    pub label: String,
    pub content: Option<String>,
    pub project: Option<String>,
}

impl Check for New {
    fn check(&self) -> Result<()> {
        check_label(&self.label)?;
        match &self.content {
            Some(content) => commit::check_content("content", content),
            None => Ok(()),
        }
    }
}

pub fn create(work: &mut Work<'_, '_>, new: &Checked<New>) -> Result<Made> {
    let project = project::to_write(work, new.project.as_deref(), false)?;
    let log = conversation::to_write(work, project, None)?;
    check_free(work, project, &new.label, None)?;
    let mut data = Map::new();
    data.insert("label".into(), new.label.clone().into());
    data.insert(LABEL_HISTORY.into(), Value::Array(Vec::new()));
    let id = work.create(Create {
        kind: EntityKind::Artifact,
        project: Some(project),
        data,
        ..Create::default()
    })?;
    let ws = work.ws();
    let found = load(work.read()?, ws, id)?;
    let mut fields = Map::new();
    fields.insert("artifact_uuid".into(), found.name.clone().into());
    fields.insert("label".into(), new.label.clone().into());
    write::append(work, &found, log, ARTIFACT_CREATED, fields, Vec::new())?;
    if let Some(content) = &new.content {
        let given = Given::default();
        commit::first(work, &found, log, content, &given)?;
    }
    let artifact = load(work.read()?, ws, id)?.shown();
    Ok(Made { artifact })
}

/// Refuses a label that another artifact of the project has or had: texts that name it mean that
/// one.
pub fn check_free(
    work: &mut Work<'_, '_>,
    project: Id,
    label: &str,
    but: Option<Id>,
) -> Result<()> {
    let ws = work.ws();
    match artifacts::by_label(work.read()?, ws, project, label)? {
        Some((id, now)) if Some(id) != but => {
            let there = load(work.read()?, ws, id)?;
            let message = if now {
                format!("{label} is the label of another artifact")
            } else {
                format!(
                    "{label} was a label of {}, and references to it still lead there",
                    there.row.label
                )
            };
            Err(Fault::conflict(message)
                .detail("field", "label")
                .detail("artifact", &there.name)
                .hint("Commit to that one, or choose another label."))
        }
        _ => Ok(()),
    }
}
