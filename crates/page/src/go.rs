//! Where something that is called so is shown: what pasted names, links in texts and the palette use.

use maud::html;
use serde_json::json;
use understory_engine::kernel::log;
use understory_engine::kernel::search::glance::{Glance, Sort, glance};
use understory_engine::kernel::search::offer::agents_from;
use understory_model::refs::parse_lines;
use understory_model::{Code, Fault};

use crate::text::{segment, stored};
use crate::visit::Visit;
use crate::{Content, Found, Place, place_of};

/// The page of a name; for a name of nothing, a page that offers the search.
pub fn page(visit: &Visit<'_>, name: &str) -> Result<Found, Fault> {
    if let Some(place) = known(name) {
        return Ok(Found::Moved(with_project(visit, place)));
    }
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let bare = name.trim_start_matches('@');
    let agents = engine.view(caller, |view| agents_from(view, bare))?;
    if bare == caller.agent || agents.iter().any(|agent| agent.name == bare) {
        return Ok(Found::Moved(with_project(
            visit,
            format!("agents/{}", segment(bare)),
        )));
    }
    let found = engine.view(caller, |view| glance(view, name));
    match found {
        Ok(Some(found)) => Ok(Found::Moved(with_project(visit, place_of_glance(&found)))),
        Ok(None) => in_the_log(visit, name),
        Err(fault) if fault.code.status() < 500 => in_the_log(visit, name),
        Err(fault) => Err(fault),
    }
}

/// What has no page of its own, such as a session, is shown by what happened to it.
fn in_the_log(visit: &Visit<'_>, name: &str) -> Result<Found, Fault> {
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    match engine.view(caller, |view| log::find(view, name)) {
        Ok(_) => {
            let place = format!("timeline?of={}", segment(name));
            Ok(Found::Moved(with_project(visit, place)))
        }
        Err(fault) if fault.code.status() < 500 => Err(unknown(name)),
        Err(fault) => Err(fault),
    }
}

fn unknown(name: &str) -> Fault {
    Fault::new(Code::NotFound, format!("nothing is called {name}"))
}

/// The page that says so.
pub fn missing(visit: &Visit<'_>, name: &str) -> Content {
    let search = visit.link(&format!("search?q={}", segment(name)));
    Content {
        place: Place::Search,
        title: "Nothing is called so".to_owned(),
        main: html! {
            p.empty {
                b { "Nothing is called " q { (stored(name)) } "." }
                " It may be a name of another project, or the thing may not be yours to read."
            }
            p { a.button.main href=(search) data-focus { "Search for it" } }
        },
        json: json!({"error": {"code": Code::NotFound.wire(), "name": name, "search": search}}),
        ..Content::default()
    }
}

fn with_project(visit: &Visit<'_>, place: String) -> String {
    let whole = visit.link(&place);
    let base = format!("/{}/", segment(visit.workspace));
    whole.strip_prefix(&base).unwrap_or(&whole).to_owned()
}

/// Where a name leads that says so itself.
fn known(name: &str) -> Option<String> {
    if let Some((thread, number)) = name.split_once('#')
        && thread.starts_with("th_")
        && number.parse::<u32>().is_ok()
    {
        return Some(format!("threads/{}?at={number}#{number}", segment(thread)));
    }
    let place = place_of(name);
    if let Some(project) = name.strip_prefix("project:") {
        return Some(format!("now?project={}", segment(project)));
    }
    let is_looked_up = place.starts_with("timeline?") || parse_lines(name).is_some();
    (!is_looked_up).then_some(place)
}

/// Where a thing that was looked up is shown.
pub fn place_of_glance(found: &Glance) -> String {
    let name = segment(&found.name);
    match found.sort {
        Sort::Task => format!("work/{name}"),
        Sort::Record => format!("records/{name}"),
        Sort::Thread => format!("threads/{name}"),
        Sort::Message => match (&found.thread, found.number) {
            (Some(thread), Some(number)) => {
                format!("threads/{}?at={number}#{number}", segment(thread))
            }
            _ => format!("why/{name}"),
        },
        Sort::Document => format!("artifacts/{name}"),
        Sort::Line => match parse_lines(&found.name) {
            // The part after the colon chooses the line; before it stands the document.
            Some(_) => format!("artifacts/{name}"),
            None => format!("why/{name}"),
        },
        Sort::Agent => format!("agents/{name}"),
        Sort::Conversation => format!("conversations?left={name}"),
        Sort::Part => format!("why/{name}"),
        Sort::Proposal => "now".to_owned(),
        Sort::Project => format!("now?project={name}"),
        Sort::Reasoning => format!("why/{name}"),
        Sort::Wake | Sort::Item => format!("timeline?of={name}"),
    }
}
