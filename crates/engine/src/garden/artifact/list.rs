//! `garden_artifact_list`: the artifacts of a project, by label.

use serde_json::{Value, json};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::id::entity_name;
use understory_model::page::{Cursor, Key};
use understory_model::text::fold;
use understory_model::{Caller, limits};
use understory_storage::artifacts::{self, Artifact};
use understory_storage::items;

use crate::View;
use crate::garden::timeline::paged;
use crate::project;

const LIST: &str = "garden.artifact.list";
/// Artifacts that are looked at in one step.
const AT_ONCE: i64 = 500;

/// Which artifacts somebody wants to see.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub project: Option<String>,
    /// Part of the label, in any case.
    pub text: Option<String>,
    pub cursor: Option<String>,
    pub limit: i64,
}

pub fn list(
    view: &mut View<'_, '_>,
    caller: &Caller,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let mut after = match &asked.cursor {
        Some(cursor) => {
            let after = Cursor::decode(cursor, LIST)?.text(0)?.to_string();
            understory_model::text::check_text("cursor", &after, limits::NAME_CHARS, true)?;
            after
        }
        None => String::new(),
    };
    let Some(project) = project::to_read(view, caller, asked.project.as_deref())? else {
        return Ok(json!({ "artifacts": [] }));
    };
    let text = fold(asked.text.as_deref().unwrap_or_default());
    let limit = usize::try_from(asked.limit).unwrap_or(0);
    let mut rows: Vec<(Artifact, Option<String>)> = Vec::new();
    while rows.len() <= limit {
        let some = artifacts::list(view.tx, view.ws, project.id, &after, AT_ONCE)?;
        let Some((last, _)) = some.last() else { break };
        after = last.label.clone();
        let fits = |label: &str| text.is_empty() || fold(label).contains(&text);
        rows.extend(some.into_iter().filter(|(row, _)| fits(&row.label)));
    }
    let more = rows.len() > limit;
    rows.truncate(limit);
    let ids: Vec<_> = rows.iter().map(|(row, _)| row.id).collect();
    let uuids = items::uuids(view.tx, view.ws, &ids)?;
    let shown = rows.iter().map(|(row, head)| {
        json!({
            "label": row.label,
            "uuid": uuids.get(&row.id).map(entity_name),
            "head": head,
            "commits": row.commits,
            "lines": row.lines,
            "updated_at": row.updated.to_string(),
        })
    });
    let shown: Vec<Value> = shown.collect();
    let cursor = |(row, _): &(Artifact, Option<String>)| {
        Cursor::new(LIST, vec![Key::Text(row.label.clone())]).encode()
    };
    let cursors: Vec<String> = rows.iter().map(cursor).collect();
    let answer = json!({ "artifacts": shown });
    Ok(paged(answer, "artifacts", (&cursors, more), budget))
}
