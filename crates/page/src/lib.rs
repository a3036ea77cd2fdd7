//! The pages: what people see in a browser, rendered from the answers of the tools that agents call.
//!
//! A page is a function of a [`Visit`] and knows nothing of HTTP. What a person does on it is an
//! [`acts::Act`], which is a call of a tool, too.

pub mod acts;
mod agents;
mod app;
mod around;
mod artifacts;
mod assets;
mod changed;
mod conversations;
mod dates;
mod go;
mod marks;
mod missing;
mod more;
mod needs;
mod now;
mod projects;
mod proof;
mod reasoning;
mod records;
mod search;
mod shell;
mod text;
mod threads;
mod timeline;
mod visit;
mod why;
mod work;

use maud::Markup;
use serde_json::Value;
use understory_model::refs::parse_lines;
use understory_model::{Code, Fault};

pub use app::{BOARD, BOARD_MIME, board};
pub use assets::{asset, largest};
pub use proof::{Care, Finding, Proof, Proved, Running, Setting, Signed, Verdict};
pub use text::segment;
pub use visit::{Login, Query, Visit};

use marks::Mark;

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

/// What stands between the rail and the edges: up to three columns, each of which scrolls by itself.
#[derive(Default)]
struct Content {
    /// The first segment of its address, whose files it loads.
    at: String,
    /// Which entry of the rail is marked.
    place: Place,
    title: String,
    /// A sentence of counts beside the title.
    counts: String,
    /// What stands over all columns: a picture of the whole, or a line that says in which state the page is.
    above: Option<Markup>,
    /// Filters and views, at the right end of the head.
    controls: Markup,
    /// What one chooses from: a tree, or a list of threads. On a phone it stands alone until
    /// something is chosen.
    list: Option<Markup>,
    main: Markup,
    /// Whether the body begins at its edges, because it is a list of rows or a picture.
    flush: bool,
    /// Whether the body is one chosen thing rather than a list.
    is_one: bool,
    /// The panel at the right: what is peeked at.
    side: Option<Side>,
    /// A line below all columns, with what is done with all of the page.
    foot: Option<Markup>,
    json: Value,
}

/// The panel at the right.
struct Side {
    width: Width,
    /// What it is, for who cannot see that.
    label: String,
    main: Markup,
}

/// How wide a panel is.
#[allow(dead_code, reason = "pages that have such panels follow")]
#[derive(Clone, Copy)]
enum Width {
    /// Facts: 280.
    Facts,
    /// To read: 400.
    Reading,
    /// To read and to answer: 520.
    Answering,
}

impl Width {
    fn class(self) -> &'static str {
        match self {
            Width::Facts => "with-facts",
            Width::Reading => "with-reading",
            Width::Answering => "with-answering",
        }
    }
}

/// The pages that the rail leads to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Now,
    Timeline,
    Work,
    Records,
    Reasoning,
    Conversations,
    Threads,
    Artifacts,
    Search,
    Proof,
}

impl Place {
    /// The rail, from top to bottom; search and proof stand in it by themselves.
    const RAIL: [Place; 8] = [
        Place::Now,
        Place::Timeline,
        Place::Work,
        Place::Records,
        Place::Reasoning,
        Place::Conversations,
        Place::Threads,
        Place::Artifacts,
    ];

    fn title(self) -> &'static str {
        match self {
            Place::Now => "Now",
            Place::Timeline => "Timeline",
            Place::Work => "Work",
            Place::Records => "Records",
            Place::Reasoning => "Reasoning",
            Place::Conversations => "Conversations",
            Place::Threads => "Threads",
            Place::Artifacts => "Artifacts",
            Place::Search => "Search",
            Place::Proof => "Proof and care",
        }
    }

    fn address(self) -> &'static str {
        match self {
            Place::Now => "now",
            Place::Timeline => "timeline",
            Place::Work => "work",
            Place::Records => "records",
            Place::Reasoning => "reasoning",
            Place::Conversations => "conversations",
            Place::Threads => "threads",
            Place::Artifacts => "artifacts",
            Place::Search => "search",
            Place::Proof => "proof",
        }
    }

    /// The key after `g` that leads there.
    fn key(self) -> char {
        match self {
            Place::Now => 'n',
            Place::Timeline => 't',
            Place::Work => 'w',
            Place::Records => 'r',
            Place::Reasoning => 'b',
            Place::Conversations => 'c',
            Place::Threads => 'h',
            Place::Artifacts => 'a',
            Place::Search => 's',
            Place::Proof => 'p',
        }
    }

    /// The mark that the things of this page have everywhere: the rail is the legend.
    fn mark(self) -> Mark {
        match self {
            Place::Now => Mark::Now,
            Place::Timeline => Mark::Timeline,
            Place::Work => Mark::Work,
            Place::Records => Mark::Record,
            Place::Reasoning => Mark::Reasoning,
            Place::Conversations => Mark::Conversation,
            Place::Threads => Mark::Thread,
            Place::Artifacts => Mark::Artifact,
            Place::Search => Mark::Search,
            Place::Proof => Mark::Proof,
        }
    }
}

/// The page at an address: the segments below the workspace.
pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Found, Fault> {
    let content = match path {
        [] | [""] => return Ok(Found::Moved("now".to_owned())),
        ["now"] => now::page(visit),
        ["timeline"] => timeline::page(visit),
        ["work", rest @ ..] => work::page(visit, rest),
        ["records", rest @ ..] => records::page(visit, rest),
        ["reasoning", rest @ ..] => reasoning::page(visit, rest),
        ["conversations", rest @ ..] => conversations::page(visit, rest),
        ["threads", rest @ ..] => threads::page(visit, rest),
        ["artifacts", rest @ ..] => artifacts::page(visit, rest),
        ["agents", rest @ ..] => agents::page(visit, rest),
        ["proof"] => proof::page(visit),
        ["more"] => more::page(visit),
        ["why", name] => why::page(visit, name),
        ["search"] => search::page(visit),
        ["palette"] => return search::palette(visit).map(part),
        ["complete"] => return search::complete(visit).map(part),
        ["preview"] => return search::preview(visit).map(part),
        ["go", name] => match go::page(visit, name) {
            Ok(found) => return Ok(found),
            Err(fault) if fault.code == Code::NotFound => {
                let content = go::missing(visit, name);
                return whole(visit, content, true);
            }
            Err(fault) => Err(fault),
        },
        _ => Err(no_page()),
    };
    let at = path.first().copied().unwrap_or_default();
    let (content, missing) = match content {
        Ok(content) => (
            Content {
                at: at.to_owned(),
                ..content
            },
            false,
        ),
        Err(fault) if fault.code == Code::NotFound => (missing::page(visit, path, &fault), true),
        Err(fault) => return Err(fault),
    };
    whole(visit, content, missing)
}

fn whole(visit: &Visit<'_>, content: Content, missing: bool) -> Result<Found, Fault> {
    let html = shell::document(visit, &content)?.into_string();
    Ok(Found::Page(Page {
        html,
        json: content.json,
        missing,
    }))
}

/// A part of a page that the script fetches, without what stands around pages.
fn part((markup, json): (Markup, Value)) -> Found {
    Found::Page(Page {
        html: markup.into_string(),
        json,
        missing: false,
    })
}

fn no_page() -> Fault {
    Fault::new(Code::NotFound, "there is no page here")
}

/// Where something that is called so is shown, as far as its name alone tells.
fn place_of(name: &str) -> String {
    let escaped = text::segment(name);
    let numbered = |prefix: &str| {
        let number = name.strip_prefix(prefix);
        number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if name.starts_with("th_") {
        format!("threads/{escaped}")
    } else if name.starts_with("TASK-") || name.starts_with("PLAN-") {
        format!("work/{escaped}")
    } else if numbered("R") && name.bytes().skip(1).all(|byte| byte.is_ascii_digit()) {
        format!("records/{escaped}")
    } else if parse_lines(name).is_some() {
        format!("artifacts/{escaped}")
    } else {
        format!("timeline?of={escaped}")
    }
}

#[cfg(test)]
mod tests {
    use super::place_of;

    #[test]
    fn names_lead_to_their_pages() {
        assert_eq!(place_of("th_004"), "threads/th_004");
        assert_eq!(place_of("TASK-001"), "work/TASK-001");
        assert_eq!(place_of("R001"), "records/R001");
        assert_eq!(place_of("goals:3"), "artifacts/goals%3A3");
        assert_eq!(place_of("R001/../x"), "timeline?of=R001%2F..%2Fx");
    }
}
