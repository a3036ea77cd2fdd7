//! `reader_note`: a remark on what the caller is reading.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::limits;
use understory_model::text::check_text;

use crate::Work;
use crate::garden::reader::{Setting, name_of, record};
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::call::{Operation, Output, Params};
use crate::kernel::project;

/// The answer of `reader_note`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Noted {
    /// The item that says it: `item_<uuid>`.
    pub item: String,
}

/// What is said while reading.
#[derive(Debug, Clone)]
pub struct Remark {
    pub content: String,
}

impl Check for Remark {
    fn check(&self) -> Result<()> {
        check_text("content", &self.content, limits::TEXT_CHARS, false)
    }
}

/// `reader_note`: a remark while reading.
pub fn note(
    work: &mut Work<'_, '_>,
    setting: &Checked<Setting>,
    remark: &Checked<Remark>,
) -> Result<Noted> {
    let project = project::to_write(work, setting.project.as_deref(), false)?;
    let params = Params {
        content: Some(remark.content.clone()),
        ..Params::default()
    };
    let seq = record(
        work,
        project,
        setting,
        Operation::Note,
        params,
        Output::Nothing,
    )?;
    let item = name_of(work, seq)?;
    Ok(Noted { item })
}
