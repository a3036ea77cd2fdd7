//! `reader_note`: a remark on what the caller is reading.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::limits;
use understory_model::text::check_text;

use crate::Work;
use crate::garden::reader::{Setting, name_of, record};
use crate::kernel::content::call::{Operation, Output, Params};
use crate::kernel::project;

/// The answer of `reader_note`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Noted {
    /// The item that says it: `item_<uuid>`.
    pub item: String,
}

/// `reader_note`: a remark while reading.
pub fn note(work: &mut Work<'_, '_>, setting: &Setting, content: &str) -> Result<Noted> {
    check_text("content", content, limits::TEXT_CHARS, false)?;
    let project = project::to_write(work, setting.project.as_deref(), false)?;
    let params = Params {
        content: Some(content.to_string()),
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
