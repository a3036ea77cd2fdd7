//! Work: the tasks of a project as a picture, a board and a list; one of them in a panel and on a page.

mod board;
mod draw;
mod facts;
mod forms;
mod layout;
mod list;
mod most;
mod panel;
mod picture;
mod standing;
mod task;

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::graph::board::{Plan, State, Task};
use understory_engine::graph::picture::{Asked, Picture};
use understory_model::{Fault, limits};

use crate::marks::{Mark, mark};
use crate::projects::projects;
use crate::text::number;
use crate::visit::Visit;
use crate::{Content, Place, no_page};
use picture::Look;
use standing::{Asking, counts};

/// Steps around a focus where the address says none.
const STEPS: i64 = 2;
/// Tasks that fields offer to choose from.
const CHOICES: i64 = 100;

pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] => all(visit),
        [node] => {
            let plan = plan(visit)?;
            let mut content = task::page(visit, plan.as_ref(), node)?;
            if let Some(plan) = &plan {
                content.main = html! { (content.main) (offered(visit, plan)?) };
            }
            Ok(content)
        }
        _ => Err(no_page()),
    }
}

/// The three ways to look at the same tasks.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Picture,
    Board,
    List,
}

impl Seen {
    const ALL: [(Seen, &'static str, &'static str); 3] = [
        (Seen::Picture, "picture", "Picture"),
        (Seen::Board, "board", "Board"),
        (Seen::List, "list", "List"),
    ];

    fn of(visit: &Visit<'_>) -> Seen {
        let named = visit.query.get("view");
        let found = Seen::ALL.iter().find(|(_, name, _)| Some(*name) == named);
        found.map_or(Seen::Picture, |(seen, ..)| *seen)
    }
}

/// What one of the ways shows.
#[derive(Default)]
struct Shown {
    main: Markup,
    list: Option<Markup>,
    /// The task in the middle of the picture.
    focus: Option<String>,
    flush: bool,
    data: Value,
}

fn all(visit: &Visit<'_>) -> Result<Content, Fault> {
    let seen = Seen::of(visit);
    let plan = plan(visit)?;
    let Some(plan) = plan.filter(|plan| plan.counts.all() > 0) else {
        return nothing(visit);
    };
    let asking = Asking::of(visit)?;
    let shown = match seen {
        Seen::Picture => in_picture(visit, &plan, &asking)?,
        Seen::Board => on_board(visit, &plan, &asking)?,
        Seen::List => in_list(visit, &plan, &asking)?,
    };
    let panel = panel::panel(visit, &plan, &asking)?;
    let (side, facts) = panel.unzip();
    let offered = offered(visit, &plan)?;
    let mut data = shown.data;
    data["counts"] = json!(plan.counts);
    if let Some(facts) = facts {
        data["peek"] = facts.data();
    }
    Ok(Content {
        place: Place::Work,
        title: "Work".to_owned(),
        counts: counts(plan.counts),
        controls: controls(visit, seen, shown.focus.as_deref())?,
        list: shown.list,
        is_one: visit.query.get("around").is_some(),
        main: html! { (shown.main) (offered) },
        flush: shown.flush,
        side,
        json: data,
        ..Content::default()
    })
}

fn nothing(visit: &Visit<'_>) -> Result<Content, Fault> {
    Ok(Content {
        place: Place::Work,
        title: "Work".to_owned(),
        controls: html! { (projects(visit, "work")?) (forms::new(visit)) },
        main: html! {
            p.empty { b { "No tasks yet." } " Write the first; an agent that asks for work gets it." }
        },
        json: json!({"counts": Value::Null}),
        ..Content::default()
    })
}

fn controls(visit: &Visit<'_>, seen: Seen, focus: Option<&str>) -> Result<Markup, Fault> {
    let most = visit.query.get("most").is_some();
    Ok(html! {
        (projects(visit, "work")?)
        @match focus {
            Some(focus) => {
                a.button href=(visit.with("work", &[("peek", Some(focus))])) data-soft {
                    (steps_in_words(steps(visit))) " around " (focus)
                }
            }
            None => {
                a.button href=(visit.with("work", &[("view", None), ("most", (!most).then_some("1"))])) data-soft
                    aria-current=[most.then_some("true")] { "Unblocks most" }
            }
        }
        nav.views aria-label="Views" {
            @for (one, name, title) in Seen::ALL {
                a href=(visit.with("work", &[("view", Some(name)), ("lane", None), ("rows", None)])) data-soft
                    aria-current=[(one == seen).then_some("true")] { (title) }
            }
        }
        (forms::new(visit))
    })
}

/// The plan of the page's project, if it has one.
fn plan(visit: &Visit<'_>) -> Result<Option<Plan>, Fault> {
    let engine = visit.context.engine;
    engine.view(visit.context.caller, |view| Plan::of(view, visit.project()))
}

/// What fields that name a task offer.
fn offered(visit: &Visit<'_>, plan: &Plan) -> Result<Markup, Fault> {
    let engine = visit.context.engine;
    let tasks = engine.view(visit.context.caller, |view| plan.open(view, CHOICES))?;
    Ok(forms::choices(&tasks))
}

fn steps(visit: &Visit<'_>) -> i64 {
    match visit.query.get("steps") {
        Some("all") => limits::PICTURE_STEPS,
        Some(steps) => steps
            .parse()
            .unwrap_or(STEPS)
            .clamp(1, limits::PICTURE_STEPS),
        None => STEPS,
    }
}

fn steps_in_words(steps: i64) -> String {
    match steps {
        1 => "One step".to_owned(),
        2 => "Two steps".to_owned(),
        3 => "Three steps".to_owned(),
        limits::PICTURE_STEPS.. => "All".to_owned(),
        more => format!("{more} steps"),
    }
}

fn in_picture(visit: &Visit<'_>, plan: &Plan, asking: &Asking) -> Result<Shown, Fault> {
    let asked = Asked {
        around: visit.query.get("around"),
        steps: steps(visit),
    };
    let engine = visit.context.engine;
    let (found, most, first) = engine.view(visit.context.caller, |view| {
        let found = plan.picture(view, &asked)?;
        let is_listed = found.focus.is_some() || visit.query.get("most").is_some();
        let most = match is_listed {
            true => Some(plan.unblocking(view, most::ROWS)?),
            false => None,
        };
        let first = plan.lane(view, State::Ready, 1)?.pop();
        Ok((found, most, first))
    })?;
    let chosen = visit.query.get("peek").or(found.focus.as_deref());
    let look = Look {
        asking,
        chosen,
        focus: found.focus.as_deref(),
        first: first.as_ref().map(|task| task.id.as_str()),
    };
    let focus = found.focus.as_deref();
    let main = html! {
        a.skip href=(visit.with("work", &[("view", Some("list"))])) data-soft { "Show as list" }
        div.picture id="picture" {
            @if found.tasks.is_empty() {
                p.empty { b { "Everything is done." } " " a href=(visit.with("work", &[("view", Some("list")), ("state", Some("done"))])) data-soft { "Show what was done" } }
            } @else { (picture::picture(visit, &found, &look)) }
        }
        (foot(visit, plan, &found))
    };
    Ok(Shown {
        list: most
            .as_deref()
            .map(|tasks| most::most(visit, tasks, asking, focus)),
        main,
        flush: true,
        data: json!({"picture": found, "unblocks_most": most}),
        focus: found.focus.clone(),
    })
}

/// Below the picture: what its marks mean, or how much of the plan it is; and how large it is.
fn foot(visit: &Visit<'_>, plan: &Plan, found: &Picture) -> Markup {
    html! {
        div.foot {
            @match &found.focus {
                Some(_) => (around(visit, plan, found)),
                None => {
                    p.legend {
                        @for (shape, words) in [
                            (Mark::Ready, "ready"), (Mark::Claimed, "somebody has it"), (Mark::NeedsYou, "waits for you"),
                            (Mark::Waits, "waits for others"), (Mark::Done, "done"),
                        ] { span { (mark(shape)) " " (words) } }
                        @if plan.counts.open() > found.tasks.len() as i64 { span { (number(found.tasks.len() as i64)) " of " (number(plan.counts.all())) } }
                    }
                }
            }
            div.zoom role="group" aria-label="Size of the picture" {
                button type="button" data-zoom=".8" data-hotkey="-" aria-label="Smaller" { "−" }
                button type="button" data-zoom="0" data-hotkey="0" { "Fit" }
                button type="button" data-zoom="1.25" data-hotkey="+" aria-label="Larger" { "+" }
            }
        }
    }
}

fn around(visit: &Visit<'_>, plan: &Plan, found: &Picture) -> Markup {
    let now = found.steps.unwrap_or(STEPS);
    let focus = found.focus.as_deref();
    let to = |steps: &str| visit.with("work", &[("steps", Some(steps)), ("around", focus)]);
    let (fewer, more) = ((now - 1).max(1), (now + 1).min(limits::PICTURE_STEPS));
    html! {
        p.meta {
            (number(found.tasks.len() as i64)) " of " (number(plan.counts.all())) " tasks. "
            a href=(to(&fewer.to_string())) data-soft data-hotkey="[" aria-label="Fewer steps" { kbd { "[" } } " "
            a href=(to(&more.to_string())) data-soft data-hotkey="]" aria-label="More steps" { kbd { "]" } }
            " fewer or more steps, arrows walk along the edges."
        }
        nav.views aria-label="Steps" {
            @for (steps, label) in [(1, "1 step"), (2, "2"), (3, "3")] {
                a href=(to(&steps.to_string())) data-soft aria-current=[(steps == now).then_some("true")] { (label) }
            }
            a href=(to("all")) data-soft aria-current=[(now >= limits::PICTURE_STEPS).then_some("true")] { "All" }
        }
    }
}

fn on_board(visit: &Visit<'_>, plan: &Plan, asking: &Asking) -> Result<Shown, Fault> {
    let engine = visit.context.engine;
    let lanes = engine.view(visit.context.caller, |view| board::read(view, plan))?;
    Ok(Shown {
        main: board::board(visit, plan, &lanes, asking),
        data: board::data(plan, &lanes),
        ..Shown::default()
    })
}

fn in_list(visit: &Visit<'_>, plan: &Plan, asking: &Asking) -> Result<Shown, Fault> {
    let wanted = list::Wanted::of(visit);
    let found = wanted.found(visit)?;
    let engine = visit.context.engine;
    let (tasks, more): (Vec<Task>, bool) =
        engine.view(visit.context.caller, |view| wanted.read(plan, &found, view))?;
    Ok(Shown {
        main: wanted.list(visit, (&tasks, more), asking),
        flush: true,
        data: json!({"tasks": tasks, "more": more}),
        ..Shown::default()
    })
}
