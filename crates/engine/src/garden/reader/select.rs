//! `reader_select`: the lines that a caller points at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;

use super::scroll::{Scrolled, lines, look};
use crate::Work;
use crate::garden::reader::{Setting, name_of, open, record};
use crate::kernel::checked::Checked;
use crate::kernel::content::call::{Operation, Output, Params};

/// The answer of `reader_select`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Selected {
    #[serde(flatten)]
    pub scrolled: Scrolled,
    /// How a text refers to the first line: `label:12@<commit>`.
    pub reference: String,
    /// The id of each line's text.
    pub fragments: Vec<String>,
}

impl Fit for Selected {
    const SHAPE: Shape = Shape::Spare {
        list: "lines",
        spare: &["reference", "fragments"],
    };
}

/// `reader_select`: these lines, and none else, are meant.
pub fn select(
    work: &mut Work<'_, '_>,
    setting: &Checked<Setting>,
    name: &str,
    start: i64,
    end: i64,
) -> Result<Selected> {
    let open = open(work, setting, name)?;
    let range = open.range(start, end)?;
    look(work, &open, &range)?;
    let params = Params {
        start: Some(start),
        end: Some(end),
        ..open.params()
    };
    let ids: Vec<String> = range
        .clone()
        .map(|at| open.version.lines[at].fragment())
        .collect();
    let output = Output::Selected {
        start,
        end,
        commit: open.hash().map(str::to_string),
        fragments: ids.clone(),
    };
    let seq = record(
        work,
        open.project(),
        setting,
        Operation::Select,
        params,
        output,
    )?;
    let item = name_of(work, seq)?;
    let commit: String = open
        .hash()
        .iter()
        .flat_map(|hash| hash.chars().take(12))
        .collect();
    Ok(Selected {
        scrolled: lines(&open, range, item),
        reference: format!("{}:{start}@{commit}", open.label()),
        fragments: ids,
    })
}
