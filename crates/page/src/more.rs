//! All pages by name: what the bar of a phone has no room for.

use maud::html;
use serde_json::json;
use understory_model::Fault;

use crate::marks::{mark, who};
use crate::text::{age, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

pub fn page(visit: &Visit<'_>) -> Result<Content, Fault> {
    let around = visit.around()?;
    let others = around.who.agents.iter().filter(|agent| !agent.you);
    let places = Place::RAIL.into_iter().chain([Place::Search, Place::Proof]);
    Ok(Content {
        title: "All pages".to_owned(),
        flush: true,
        main: html! {
            ul.rows {
                @for place in places {
                    li.row { (mark(place.mark())) a.title href=(visit.link(place.address())) { (place.title()) } }
                }
            }
            h2 { "Here now" }
            ul.rows {
                @for agent in others {
                    li.row {
                        (who(&agent.agent, false))
                        a.title.what href=(visit.link(&format!("agents/{}", segment(&agent.agent)))) { (stored(&agent.agent)) }
                        (age(visit, agent.seen))
                    }
                }
            }
        },
        json: json!({"here": around.who.agents}),
        ..Content::default()
    })
}
