//! The pages: what people see in a browser, rendered from the answers of the tools that agents call.
//!
//! A page is a function of a [`Visit`] and knows nothing of HTTP. What a person does on it is an
//! [`acts::Act`], which is a call of a tool, too.

pub mod acts;
mod artifacts;
mod marks;
mod missing;
mod needs;
mod now;
mod search;
mod shell;
mod task;
mod text;
mod thread;
mod threads;
mod timeline;
mod visit;
mod why;
mod work;

use maud::Markup;
use serde_json::Value;
use understory_model::{Code, Fault};

pub use text::segment;
pub use visit::{Query, Visit};

/// The stylesheet and the script, as they are served.
pub const STYLE: &str = include_str!("../assets/page.css");
pub const SCRIPT: &str = include_str!("../assets/page.js");
pub const ICON: &str = include_str!("../assets/icon.svg");

/// A page, whole, and the same as data.
pub struct Page {
    pub html: String,
    pub json: Value,
    /// Whether there is nothing of the name that the address says.
    pub missing: bool,
}

/// What an address leads to.
pub enum Found {
    Page(Page),
    /// Another address, below the workspace.
    Moved(String),
}

/// What stands between the rail and the edges.
struct Content {
    /// Which entry of the rail is marked.
    place: Place,
    title: String,
    /// A sentence of counts beside the title.
    counts: String,
    main: Markup,
    json: Value,
}

/// The pages of the rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Now,
    Timeline,
    Work,
    Threads,
    Artifacts,
    Search,
}

impl Place {
    const ALL: [Place; 6] = [
        Place::Now,
        Place::Timeline,
        Place::Work,
        Place::Threads,
        Place::Artifacts,
        Place::Search,
    ];

    fn title(self) -> &'static str {
        match self {
            Place::Now => "Now",
            Place::Timeline => "Timeline",
            Place::Work => "Work",
            Place::Threads => "Threads",
            Place::Artifacts => "Artifacts",
            Place::Search => "Search",
        }
    }

    fn address(self) -> &'static str {
        match self {
            Place::Now => "now",
            Place::Timeline => "timeline",
            Place::Work => "work",
            Place::Threads => "threads",
            Place::Artifacts => "artifacts",
            Place::Search => "search",
        }
    }

    /// The key after `g` that leads there.
    fn key(self) -> char {
        match self {
            Place::Now => 'n',
            Place::Timeline => 't',
            Place::Work => 'w',
            Place::Threads => 'h',
            Place::Artifacts => 'a',
            Place::Search => 's',
        }
    }
}

/// The page at an address: the segments below the workspace.
pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Found, Fault> {
    let content = match path {
        [] | [""] => return Ok(Found::Moved("now".to_owned())),
        ["now"] => now::page(visit),
        ["timeline"] => timeline::page(visit),
        ["work"] => work::page(visit),
        ["work", node] => task::page(visit, node),
        ["threads"] => threads::page(visit),
        ["threads", thread] => thread::page(visit, thread),
        ["artifacts"] => artifacts::page(visit),
        ["artifacts", label] => artifacts::one(visit, label),
        ["why", name] => why::page(visit, name),
        ["search"] => search::page(visit),
        ["go", name] => return Ok(Found::Moved(place_of(name))),
        _ => Err(Fault::new(Code::NotFound, "there is no page here")),
    };
    let (content, missing) = match content {
        Ok(content) => (content, false),
        Err(fault) if fault.code == Code::NotFound => (missing::page(path, &fault), true),
        Err(fault) => return Err(fault),
    };
    let html = shell::document(visit, &content)?.into_string();
    Ok(Found::Page(Page {
        html,
        json: content.json,
        missing,
    }))
}

/// Where something that is called so is shown.
fn place_of(name: &str) -> String {
    let escaped = text::segment(name);
    if name.starts_with("th_") {
        format!("threads/{escaped}")
    } else if name.starts_with("TASK-") || name.starts_with("PLAN-") {
        format!("work/{escaped}")
    } else {
        format!("timeline?of={escaped}")
    }
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT, STYLE, place_of};

    #[test]
    fn the_script_and_the_stylesheet_are_small() {
        for file in [SCRIPT, STYLE] {
            assert!(file.len() < 40_000, "{} bytes", file.len());
        }
    }

    #[test]
    fn names_lead_to_their_pages() {
        assert_eq!(place_of("th_004"), "threads/th_004");
        assert_eq!(place_of("TASK-001"), "work/TASK-001");
        assert_eq!(place_of("R001/../x"), "timeline?of=R001%2F..%2Fx");
    }
}
