//! `garden_artifact_log`: the commits that led to a version of an artifact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Next, Shape};
use understory_model::error::{Fault, Result};
use understory_model::id::item_name;
use understory_model::page::{Cursor, Key};
use understory_model::{Seq, Time};
use understory_storage::artifacts::{self, Commit};
use understory_storage::items;

use crate::View;
use crate::garden::artifact::Shown;
use crate::garden::page::Paging;
use crate::kernel::artifact::Found;
use crate::kernel::content::artifact_delta::{Delta, Parents};

const LOG: &str = "garden.artifact.log";

/// The answer of `garden_artifact_log`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Commits {
    pub artifact: Shown,
    /// Newest first, those beside the head too.
    pub deltas: Vec<Logged>,
    #[serde(flatten)]
    pub paging: Paging,
}

/// A commit of an artifact, with what was said about it as far as that is known.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Logged {
    pub commit: String,
    #[serde(flatten)]
    pub said: Option<Said>,
    /// Whether the artifact stands at it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub head: bool,
}

/// What the item of a commit says.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// `item_<uuid>`.
    pub uuid: String,
    #[serde(rename = "_type")]
    pub kind: String,
    pub realized_at: Time,
    pub actor: String,
    /// `entity_<uuid>`.
    pub artifact_uuid: String,
    pub parent: Parents,
    /// Line operations, such as `+15:^a7f -23`.
    pub ops: String,
    /// Fragments that led to it.
    pub references: Vec<String>,
    /// How many lines the artifact has since.
    pub lines: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Whether it stands beside the head, to be merged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fork: bool,
}

impl Fit for Commits {
    const SHAPE: Shape = Shape::Pagination { list: "deltas" };

    fn cursor(&self, kept: usize) -> Option<Next> {
        self.paging.cursor(kept)
    }
}

pub fn log(
    view: &mut View<'_, '_>,
    found: &Found,
    (cursor, limit): (Option<&str>, i64),
) -> Result<Commits> {
    let before = match cursor {
        Some(cursor) => {
            let cursor = Cursor::decode(cursor, LOG)?;
            if found.id() == cursor.int(1)? {
                cursor.int(0)?
            } else {
                return Err(Fault::invalid("cursor", "belongs to another artifact"));
            }
        }
        None => Seq::MAX,
    };
    let mut commits = artifacts::commits(view.tx, view.ws, found.id(), before, limit + 1)?;
    let more = commits.len() as i64 > limit;
    commits.truncate(usize::try_from(limit).unwrap_or(0));
    let (mut deltas, mut cursors) = (Vec::new(), Vec::new());
    for commit in commits {
        let keys = vec![Key::from(commit.seq), Key::from(found.id())];
        cursors.push(Cursor::new(LOG, keys).encode());
        deltas.push(logged(view, found, commit)?);
    }
    Ok(Commits {
        artifact: found.shown(),
        deltas,
        paging: Paging::new(cursors, more),
    })
}

fn logged(view: &mut View<'_, '_>, found: &Found, commit: Commit) -> Result<Logged> {
    let item = items::get(view.tx, view.ws, commit.seq)?;
    let delta = item.as_ref().and_then(Delta::of);
    let (Some(item), Some(delta)) = (item, delta) else {
        return Ok(Logged {
            commit: commit.hash,
            said: None,
            head: false,
        });
    };
    Ok(Logged {
        commit: delta.commit,
        said: Some(Said {
            uuid: item_name(&item.uuid),
            kind: item.kind,
            realized_at: item.realized_at,
            actor: item.actor,
            artifact_uuid: delta.artifact_uuid,
            parent: delta.parent,
            ops: delta.ops,
            references: delta.references,
            lines: delta.lines,
            reasoning: delta.reasoning,
            fork: delta.fork,
        }),
        head: commit.seq == found.row.head,
    })
}
