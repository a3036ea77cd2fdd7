//! The page for a name that nothing has.

use maud::html;
use serde_json::json;
use understory_model::Fault;

use crate::text::{segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

pub fn page(visit: &Visit<'_>, path: &[&str], fault: &Fault) -> Content {
    let place = Place::RAIL
        .into_iter()
        .find(|place| path.first() == Some(&place.address()));
    let name = path.get(1).copied().unwrap_or_default();
    Content {
        place: place.unwrap_or(Place::Now),
        title: "Nothing here".to_owned(),
        counts: String::new(),
        main: html! {
            p.empty {
                b { (stored(&fault.message)) } " "
                @if let Some(hint) = &fault.hint { (stored(hint)) }
            }
            @if !name.is_empty() {
                p { a.button href=(visit.link(&format!("search?q={}", segment(name)))) { "Search for " (stored(name)) } }
            }
        },
        json: json!({"error": {"code": fault.code.wire(), "message": fault.message}}),
        ..Content::default()
    }
}
