//! Batches: how many entries one may have, and which of them a fault is about.

use understory_model::error::{Fault, Result};

/// Names the position of a fault within a batch.
pub(crate) fn at<T>(place: impl std::fmt::Display, result: Result<T>) -> Result<T> {
    result.map_err(|mut fault| {
        fault.message = format!("{place}: {}", fault.message);
        fault.detail("field", place.to_string())
    })
}

/// As [`at`], for a fault that may say itself which field of that place is wrong.
pub(crate) fn within<T>(place: &str, result: Result<T>) -> Result<T> {
    let field = |fault: &Fault| {
        fault
            .details
            .as_ref()
            .and_then(|details| details["field"].as_str().map(str::to_string))
    };
    result.or_else(|fault| match field(&fault) {
        Some(field) if fault.message.starts_with(&field) => Err(fault.within(place)),
        _ => at(place, Err(fault)),
    })
}

/// Refuses a batch that is empty or too large.
pub(crate) fn check_batch(field: &str, count: usize) -> Result<()> {
    use understory_model::limits::BATCH;
    if count == 0 {
        return Err(Fault::invalid(field, "must have at least 1 entry"));
    }
    if count > BATCH {
        return Err(Fault::invalid(
            field,
            format!("has {count} entries; at most {BATCH} are allowed"),
        )
        .hint("Split it into several calls."));
    }
    Ok(())
}
