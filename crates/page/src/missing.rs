//! The page for a name that nothing has.

use maud::html;
use serde_json::json;
use understory_model::Fault;

use crate::text::stored;
use crate::{Content, Place};

pub fn page(path: &[&str], fault: &Fault) -> Content {
    let place = Place::RAIL
        .into_iter()
        .find(|place| path.first() == Some(&place.address()));
    Content {
        place: place.unwrap_or(Place::Now),
        title: "Nothing here".to_owned(),
        counts: String::new(),
        main: html! {
            p.empty {
                b { (stored(&fault.message)) } " "
                @if let Some(hint) = &fault.hint { (stored(hint)) }
            }
        },
        json: json!({"error": {"code": fault.code.wire(), "message": fault.message}}),
        ..Content::default()
    }
}
