//! Timeline: who did what when, in lanes over a window of time, with the whole history above and the
//! items beside it.

mod filters;
mod lanes;
mod layout;
mod list;
mod strip;
mod when;

use std::collections::HashSet;

use maud::{Markup, html};
use serde_json::json;
use understory_engine::View;
use understory_engine::kernel::log;
use understory_engine::kernel::surface::Surface;
use understory_engine::system::timeline::{
    self, Density, Entries, Lanes, Opened, Unit, Waiting, Wanted,
};
use understory_model::{Fault, Seq, Time};

use crate::marks::Mark;
use crate::visit::Visit;
use crate::{Content, Place, Side, Width};
use layout::Window;
use when::Asked;

/// Entries of a page.
const PAGE: i64 = 100;
/// Lanes of a picture; the others are one line.
const LANES: usize = 30;
/// Marks of a picture, and bars of the whole history.
const MARKS: usize = 600;
const BARS: usize = 240;

/// All that the page shows, read in one look at the workspace.
struct Shown {
    asked: Asked,
    wanted: Wanted,
    lanes: Lanes,
    density: Density,
    entries: Entries,
    chosen: Option<Opened>,
    waiting: Vec<Waiting>,
    projects: Vec<String>,
    you: String,
    now: Time,
}

impl Shown {
    fn window(&self) -> Window {
        self.asked.window
    }

    /// The items that stand out: the one that was chosen, its causes and its effects.
    fn related(&self) -> HashSet<Seq> {
        let steps = |opened: &Opened| {
            let steps = opened.causes.iter().chain(&opened.effects);
            let mut all: HashSet<Seq> = steps.map(|step| step.shown.entry.seq).collect();
            all.insert(opened.shown.entry.seq);
            all
        };
        self.chosen.as_ref().map(steps).unwrap_or_default()
    }

    fn in_bars(&self) -> bool {
        matches!(self.lanes.unit, Unit::Bars(_))
    }
}

pub fn page(visit: &Visit<'_>) -> Result<Content, Fault> {
    let caller = visit.context.caller;
    let shown = visit
        .context
        .engine
        .view(caller, |view| read(visit, view))?;
    let window = shown.window();
    let mut json = json!({
        "window": {"from": window.from, "to": window.to, "live": shown.asked.live,
            "clock": if shown.wanted.happened { "happened" } else { "written" }},
        "density": shown.density,
        "entries": shown.entries.entries,
        "next": shown.entries.next,
        "chosen": shown.chosen,
        "waiting": shown.waiting,
    });
    if let (Some(all), serde_json::Value::Object(lanes)) =
        (json.as_object_mut(), json!(shown.lanes))
    {
        all.extend(lanes);
    }
    Ok(Content {
        place: Place::Timeline,
        title: "Timeline".to_owned(),
        counts: when::sentence(window, shown.asked.live),
        above: Some(html! { div.band { (strip::band(visit, &shown)) } }),
        controls: filters::controls(visit, &shown)?,
        main: html! {
            @if shown.density.bars.is_empty() {
                p.empty { b { "Nothing has happened yet." } " Whatever agents and people do appears here by itself." }
            } @else {
                (lanes::picture(visit, &shown)?)
            }
        },
        flush: true,
        side: Some(Side {
            width: Width::Reading,
            label: "Items".to_owned(),
            main: list::side(visit, &shown),
        }),
        json,
        ..Content::default()
    })
}

/// Reads what the address asks for.
fn read(visit: &Visit<'_>, view: &mut View<'_, '_>) -> Result<Shown, Fault> {
    let query = &visit.query;
    let of = query
        .get("of")
        .map(|name| timeline::named(view, name))
        .transpose()?;
    let project = visit.project().filter(|name| !name.contains('\0'));
    let project = project.map(|name| log::project(view, name)).transpose()?;
    let surface = query.get("surface");
    let surface = surface.map(|name| {
        let unknown = || Fault::invalid("surface", "is not one of those that the page offers");
        Surface::parse(name).ok_or_else(unknown)
    });
    let mut wanted = Wanted {
        happened: query.get("clock") != Some("written"),
        agent: query.get("agent").or(query.get("by")).map(str::to_owned),
        surface: surface.transpose()?,
        kind: query.get("type").map(str::to_owned),
        project,
        of,
        ..Wanted::default()
    };
    let chosen = query.get("sel").and_then(|seq| seq.parse().ok()).map(Seq);
    let chosen = chosen.map(|seq| timeline::opened(view, seq)).transpose()?;
    let begins = match of {
        Some(id) => timeline::made_at(view, id)?,
        // The window of a young log is shorter, so that what there is can be told apart.
        None => timeline::began(view)?
            .filter(|at| at.0 > visit.now.0 - when::HOUR)
            .map(|at| Time(at.0.min(visit.now.0 - when::HOUR / 6))),
    };
    let mut last = match wanted
        .agent
        .as_deref()
        .is_some_and(|name| name.contains('\0'))
    {
        true => None,
        false => timeline::latest(view, &wanted)?,
    };
    // Who comes with an item and no window sees the time around it.
    if let (Some(opened), None, None) = (&chosen, query.get("from"), query.get("to")) {
        last = Some(opened.shown.written_at);
    }
    let asked = when::asked(query, visit.now, begins, last)?;
    wanted.from = asked.window.from;
    // What was written in this very moment is in it.
    wanted.to = if asked.live {
        asked.window.to.plus(1)
    } else {
        asked.window.to
    };
    let before = query.get("before").and_then(|n| n.parse().ok()).map(Seq);
    Ok(Shown {
        lanes: timeline::lanes(view, &wanted, LANES)?,
        density: timeline::density(view, BARS)?,
        entries: timeline::entries(view, &wanted, before, PAGE)?,
        waiting: timeline::waiting(view)?,
        projects: timeline::projects(view)?,
        you: visit.person().to_owned(),
        now: visit.now,
        asked,
        wanted,
        chosen,
    })
}

/// The mark of a surface: the one of its page in the rail.
fn mark_of(surface: Surface) -> Mark {
    match surface {
        Surface::Work => Mark::Work,
        Surface::Records => Mark::Record,
        Surface::Reasoning => Mark::Reasoning,
        Surface::Conversations => Mark::Conversation,
        Surface::Threads => Mark::Thread,
        Surface::Artifacts => Mark::Artifact,
        Surface::Acts => Mark::Act,
        Surface::Relations => Mark::Why,
        Surface::Care => Mark::Credential,
    }
}

/// A surface in the words of the pages.
fn name_of(surface: Surface) -> &'static str {
    match surface {
        Surface::Acts => "read or ran",
        Surface::Relations => "about other items",
        Surface::Care => "tokens and logins",
        other => other.as_str(),
    }
}

/// A link that chooses an item.
fn choose(visit: &Visit<'_>, seq: Seq) -> String {
    visit.with("timeline", &[("sel", Some(&seq.to_string()))])
}

/// The name of somebody, where it is the person themselves as they say it.
fn called<'n>(shown: &Shown, name: &'n str) -> &'n str {
    if name == shown.you { "you" } else { name }
}

/// The tasks, threads and documents of items, as links.
fn handle(visit: &Visit<'_>, entry: &log::Entry) -> Markup {
    let target = entry.handle.as_deref();
    let is_message = target.is_some_and(|handle| handle.starts_with("msg_"));
    let target = target.filter(|handle| !handle.starts_with("session:"));
    // A message has no page of its own; its thread has.
    let place = if is_message {
        entry.about.as_deref()
    } else {
        target
    };
    let words = if is_message {
        place
    } else {
        entry.name.as_deref().or(target)
    };
    html! {
        @if let (Some(place), Some(words)) = (place, words) {
            a.handle data-long[words.len() > 24] href=(visit.link(&format!("go/{}", crate::text::segment(place)))) {
                (crate::text::stored(words))
            }
        }
    }
}
