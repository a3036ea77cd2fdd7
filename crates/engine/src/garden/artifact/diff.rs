//! `garden_artifact_diff`: what lies between two versions of an artifact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_model::lines::unified;
use understory_storage::artifacts::Commit;

use crate::View;
use crate::garden::artifact::Shown;
use crate::kernel::artifact::{Found, at, commit_named, wanted};

/// The answer of `garden_artifact_diff`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Diff {
    pub artifact: Shown,
    pub from: String,
    pub to: String,
    /// A unified diff.
    pub diff: String,
}

impl Fit for Diff {
    const SHAPE: Shape = Shape::Text { text: "diff" };
}

pub fn diff(
    view: &mut View<'_, '_>,
    found: &Found,
    (from, to): (&str, Option<&str>),
) -> Result<Diff> {
    let from = commit_named(view.tx, view.ws, found, "from", from)?;
    let to = wanted(view, found, "to", to)?.unwrap_or_else(|| from.clone());
    let old = at(view.tx, view.ws, found.id(), from.seq)?;
    let new = at(view.tx, view.ws, found.id(), to.seq)?;
    let name = |commit: &Commit| {
        format!(
            "{}@{}",
            found.row.label,
            &commit.hash[..12.min(commit.hash.len())]
        )
    };
    let diff = unified(&old, &new, (&name(&from), &name(&to)));
    Ok(Diff {
        artifact: found.shown(),
        from: from.hash,
        to: to.hash,
        diff,
    })
}
