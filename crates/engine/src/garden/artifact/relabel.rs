//! `garden_artifact_relabel`: another label; the old one keeps leading here.

use understory_model::error::Result;

use crate::Work;
use crate::garden::artifact::create::check_free;
use crate::garden::artifact::{Made, check_label};
use crate::kernel::artifact::{LABEL_HISTORY, find, load};
use crate::kernel::checked::{Check, Checked};
use crate::kernel::names::Scope;
use crate::kernel::project;
use crate::kernel::work::Edit;

/// An artifact, and the label that it is to have.
#[derive(Debug, Clone)]
pub struct New {
    pub artifact: String,
    pub label: String,
    pub project: Option<String>,
}

impl Check for New {
    fn check(&self) -> Result<()> {
        check_label(&self.label)
    }
}

pub fn relabel(work: &mut Work<'_, '_>, new: &Checked<New>) -> Result<Made> {
    let project = project::to_write(work, new.project.as_deref(), false)?;
    let ws = work.ws();
    let scope = Scope {
        ws,
        project: Some(project),
        caller: work.caller,
    };
    let found = find(work.read()?, scope, &new.artifact)?;
    let label = &new.label;
    if found.row.label == *label {
        let artifact = found.shown();
        return Ok(Made { artifact });
    }
    check_free(work, found.row.project, label, Some(found.id()))?;
    let mut data = found.thing.data.clone();
    let mut history = found.past_labels();
    history.retain(|past| past != label && *past != found.row.label);
    history.push(found.row.label.clone());
    data.insert("label".into(), label.clone().into());
    data.insert(LABEL_HISTORY.into(), history.into());
    work.change(
        found.id(),
        Edit {
            action: "relabelled",
            data: Some(data),
            ..Edit::default()
        },
    )?;
    let artifact = load(work.read()?, ws, found.id())?.shown();
    Ok(Made { artifact })
}
