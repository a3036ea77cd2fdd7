//! Artifacts: documents that change by lines, commit by commit, and whose every line knows where it
//! came from.
//!
//! An artifact is an entity with a label; its text is what its commits say, and its commits are
//! items. Nothing here writes a line that no commit says.

pub mod about;
pub mod commit;
pub mod create;
pub mod diff;
pub mod history;
pub mod list;
pub mod log;
pub mod merge;
pub mod relabel;
pub mod resolve;
pub mod show;
pub mod write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Fault, Result};
use understory_model::id::{HandleKind, parse_message};
use understory_model::limits;

use crate::kernel::artifact::Shown;

/// The answer of the tools that make or change an artifact without a commit.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Made {
    pub artifact: Shown,
}

/// A label stands before a colon in references, and must not be taken for another name.
fn check_label(label: &str) -> Result<()> {
    understory_model::text::check_text("label", label, limits::NAME_CHARS / 2, false)?;
    if !label.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Err(
            Fault::invalid("label", "takes letters, digits and _ alone").hint(format!(
                "For example {}: references such as label:12 can name its lines.",
                suggested(label)
            )),
        );
    }
    let numbered = |prefix: &str| {
        let rest = label.strip_prefix(prefix);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let handle = HandleKind::ALL.iter().any(|kind| numbered(kind.prefix()));
    if handle || parse_message(label).is_some() {
        return Err(
            Fault::invalid("label", "looks like the name of something else")
                .hint("Choose one that no record, thread or message could have."),
        );
    }
    Ok(())
}

/// A label that would do.
fn suggested(label: &str) -> String {
    let fits = |c: char| if c.is_alphanumeric() { c } else { '_' };
    let label: String = label.chars().map(fits).take(40).collect();
    match label.trim_matches('_') {
        "" => "goals_doc".into(),
        label => label.to_string(),
    }
}
