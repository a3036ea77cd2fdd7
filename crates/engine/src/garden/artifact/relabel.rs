//! `garden_artifact_relabel`: another label; the old one keeps leading here.

use understory_model::error::Result;

use crate::Work;
use crate::garden::artifact::Made;
use crate::garden::artifact::create::check_free;
use crate::kernel::artifact::{LABEL_HISTORY, find, load};
use crate::kernel::names::Scope;
use crate::kernel::project;
use crate::kernel::work::Edit;

pub fn relabel(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    artifact: &str,
    label: &str,
) -> Result<Made> {
    let project = project::to_write(work, named, false)?;
    work.flush()?;
    let ws = work.ws();
    let scope = Scope {
        ws,
        project: Some(project),
        caller: work.caller,
    };
    let found = find(work.tx, scope, artifact)?;
    if found.row.label == label {
        let artifact = found.shown();
        return Ok(Made { artifact });
    }
    check_free(work, found.row.project, label, Some(found.id()))?;
    let mut data = found.thing.data.clone();
    let mut history = found.past_labels();
    history.retain(|past| past != label && *past != found.row.label);
    history.push(found.row.label.clone());
    data.insert("label".into(), label.into());
    data.insert(LABEL_HISTORY.into(), history.into());
    work.change(
        found.id(),
        Edit {
            action: "relabelled",
            data: Some(data),
            ..Edit::default()
        },
    )?;
    work.flush()?;
    let artifact = load(work.tx, ws, found.id())?.shown();
    Ok(Made { artifact })
}
