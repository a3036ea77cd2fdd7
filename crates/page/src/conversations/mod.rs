//! Conversations.

use understory_model::Fault;

use crate::visit::Visit;
use crate::{Content, Place, no_page};

pub fn page(_visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] => Ok(Content {
            place: Place::Conversations,
            title: "Conversations".to_owned(),
            ..Content::default()
        }),
        _ => Err(no_page()),
    }
}
