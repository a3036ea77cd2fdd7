//! A record's value: how it is opened, what it is found by, and what its fields may hold.

use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::limits;
use understory_model::record::RecordState;
use understory_model::text::check_text;

pub fn check_title(title: &str) -> Result<()> {
    check_text("title", title, limits::LINE_CHARS, false)
}

pub fn check_summary(summary: &str) -> Result<()> {
    check_text("summary", summary, limits::LINE_CHARS, true)
}

pub fn check_type(kind: &str) -> Result<()> {
    check_text("type", kind, limits::NAME_CHARS, false)?;
    if kind.chars().any(char::is_control) {
        return Err(Fault::invalid("type", "has control characters")
            .hint("Use a word such as question, conclusion or note."));
    }
    Ok(())
}

pub fn check_body(body: &str) -> Result<()> {
    if body.len() <= limits::BODY_BYTES {
        return Ok(());
    }
    let (size, most) = (body.len(), limits::BODY_BYTES);
    Err(Fault::new(
        Code::TooLarge,
        format!("body: has {size} bytes; at most {most} are kept"),
    )
    .detail("field", "body")
    .detail("bytes", size)
    .detail("limit", most)
    .hint("Split it into several records, or keep the large part in a file and name it."))
}

pub fn check_metadata(metadata: &Map<String, Value>) -> Result<()> {
    let size = serde_json::to_string(metadata).map_or(usize::MAX, |text| text.len());
    if size <= limits::METADATA_BYTES {
        return Ok(());
    }
    let most = limits::METADATA_BYTES;
    Err(Fault::new(
        Code::TooLarge,
        format!("metadata: has {size} bytes; at most {most} are kept"),
    )
    .detail("field", "metadata")
    .detail("bytes", size)
    .detail("limit", most)
    .hint("Put long text into the body."))
}

pub fn check_reason(reason: &str) -> Result<()> {
    check_text("reason", reason, limits::TEXT_CHARS, true)
}

/// What settled a record goes only with RESOLVED.
pub fn check_resolved_by(state: RecordState, resolved_by: Option<&str>) -> Result<()> {
    if resolved_by.is_none() || state.needs_resolver() {
        return Ok(());
    }
    Err(Fault::invalid(
        "resolved_by",
        format!("goes with RESOLVED, not with {state}"),
    ))
}

pub fn check_related(related: &[String]) -> Result<()> {
    let (count, most) = (related.len(), limits::LIST_LEN);
    if count > most {
        let problem = format!("has {count} entries; at most {most} fit");
        return Err(Fault::invalid("related", problem));
    }
    Ok(())
}

/// Whether a text says nothing.
pub fn is_blank(text: Option<&str>) -> bool {
    text.unwrap_or_default().trim().is_empty()
}
