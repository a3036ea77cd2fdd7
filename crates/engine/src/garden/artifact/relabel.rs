//! `garden_artifact_relabel`: another label; the old one keeps leading here.

use serde_json::{Value, json};
use understory_model::error::Result;

use super::create::check_free;
use super::{find, load};
use crate::Work;
use crate::names::Scope;
use crate::project;
use crate::work::Edit;

pub fn relabel(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    artifact: &str,
    label: &str,
) -> Result<Value> {
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
        return Ok(json!({ "artifact": found.shown() }));
    }
    check_free(work, found.row.project, label, Some(found.id()))?;
    let mut data = found.thing.data.clone();
    let history = data.get("label_history").and_then(Value::as_array);
    let mut history: Vec<Value> = history.cloned().unwrap_or_default();
    history.retain(|past| past != label && *past != found.row.label);
    history.push(found.row.label.clone().into());
    data.insert("label".into(), label.into());
    data.insert("label_history".into(), history.into());
    work.change(
        found.id(),
        Edit {
            action: "relabelled",
            data: Some(data),
            ..Edit::default()
        },
    )?;
    work.flush()?;
    Ok(json!({ "artifact": load(work.tx, ws, found.id())?.shown() }))
}
