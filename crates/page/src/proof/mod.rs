//! Proof and care.

use maud::{Markup, html};
use understory_model::Fault;

use crate::visit::Visit;
use crate::{Content, Place};

pub fn page(_visit: &Visit<'_>) -> Result<Content, Fault> {
    Ok(Content {
        place: Place::Proof,
        title: "Proof and care".to_owned(),
        ..Content::default()
    })
}

/// The last line of the rail: how far the log is proved.
pub fn line(_visit: &Visit<'_>) -> Markup {
    html! {}
}
