//! Changes of records in words.

use understory_model::item::EntityDelta;
use understory_model::record::RecordData;

/// The title that a record was made with.
pub fn title(delta: &EntityDelta) -> String {
    let data = delta.data.as_ref().and_then(RecordData::read);
    data.map(|data| data.title).unwrap_or_default()
}

/// The fields that a change touched, each once.
pub fn changed_fields(delta: &EntityDelta) -> Vec<String> {
    let mut names: Vec<String> = delta
        .changes
        .iter()
        .filter_map(|change| change.at.first().cloned())
        .collect();
    names.dedup();
    if delta.place.is_some() {
        names.push("parent_id".into());
    }
    if names.is_empty() {
        names.push("nothing".into());
    }
    names
}

/// A change of state in words.
pub fn moved(delta: &EntityDelta) -> String {
    let side = |field: &str, after: bool| {
        let change = delta
            .changes
            .iter()
            .find(|change| change.field() == field)?;
        let side = if after { &change.after } else { &change.before };
        side.as_ref()?.as_str().map(str::to_string)
    };
    let mut said = format!(
        "{} → {}",
        side("state", false).unwrap_or_default(),
        side("state", true).unwrap_or_default()
    );
    if let Some(by) = side("resolved_by", true) {
        said.push_str(&format!(" by {by}"));
    }
    if let Some(reason) = delta.reason.as_deref().filter(|reason| !reason.is_empty()) {
        said.push_str(&format!(": {reason}"));
    }
    said
}
