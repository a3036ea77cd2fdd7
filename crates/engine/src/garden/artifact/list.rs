//! `garden_artifact_list`: the artifacts of a project, by label.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Next, Shape};
use understory_model::error::Result;
use understory_model::id::entity_name;
use understory_model::page::{Cursor, Key};
use understory_model::text::{check_text, fold};
use understory_model::{Time, limits};
use understory_storage::artifacts::{self, Artifact};
use understory_storage::items;

use crate::View;
use crate::garden::page::Paging;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::project;

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

impl Check for Asked {
    fn check(&self) -> Result<()> {
        match &self.text {
            Some(text) => check_text("text", text, limits::LINE_CHARS, true),
            None => Ok(()),
        }
    }
}

/// The answer of `garden_artifact_list`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Artifacts {
    /// By label.
    pub artifacts: Vec<Listed>,
    #[serde(flatten)]
    pub paging: Paging,
}

/// An artifact in a list.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    pub label: String,
    /// `entity_<uuid>`.
    pub uuid: Option<String>,
    /// The hash of its current commit; null before the first.
    pub head: Option<String>,
    pub commits: i64,
    pub lines: i64,
    pub updated_at: Time,
}

impl Fit for Artifacts {
    const SHAPE: Shape = Shape::Pagination { list: "artifacts" };

    fn cursor(&self, kept: usize) -> Option<Next> {
        self.paging.cursor(kept)
    }
}

pub fn list(view: &mut View<'_, '_>, asked: &Checked<Asked>) -> Result<Artifacts> {
    let mut after = match &asked.cursor {
        Some(cursor) => {
            let after = Cursor::decode(cursor, LIST)?.text(0)?.to_string();
            check_text("cursor", &after, limits::NAME_CHARS, true)?;
            after
        }
        None => String::new(),
    };
    let Some(project) = project::to_read(view, view.caller, asked.project.as_deref())? else {
        return Ok(Artifacts::default());
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
    let uuids = items::uuids_of(view.tx, view.ws, &ids)?;
    let cursor = |row: &Artifact| Cursor::new(LIST, vec![Key::Text(row.label.clone())]).encode();
    let cursors = rows.iter().map(|(row, _)| cursor(row)).collect();
    let listed = rows.into_iter().map(|(row, head)| Listed {
        uuid: uuids.get(&row.id).map(entity_name),
        label: row.label,
        head,
        commits: row.commits,
        lines: row.lines,
        updated_at: row.updated,
    });
    Ok(Artifacts {
        artifacts: listed.collect(),
        paging: Paging::new(cursors, more),
    })
}
