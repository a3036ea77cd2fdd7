//! The picture of what must come before what: drawn on the server, each task a link, its lines curves.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};
use understory_engine::graph::board::{State, Task};
use understory_engine::graph::picture::{Fold, Picture};

use super::draw::{self, CARD, DONE, FOLD};
use super::layout::{Layout, Point, Size, layout};
use super::standing::{Asking, Standing};
use crate::text::{number, plain};
use crate::visit::Visit;

/// Lines that are drawn; more would be a blot.
const LINES: usize = 600;
/// Around what is drawn, where the ring of the chosen task stands.
const MARGIN: f64 = 24.0;

/// What stands at a place of the picture.
enum Drawn<'a> {
    Task(&'a Task),
    Fold(&'a Fold),
}

impl Drawn<'_> {
    fn size(&self) -> Size {
        match self {
            Drawn::Task(task) if is_over(task) => DONE,
            Drawn::Task(_) => CARD,
            Drawn::Fold(_) => FOLD,
        }
    }
}

fn is_over(task: &Task) -> bool {
    matches!(task.state, State::Done | State::Dropped)
}

/// How the picture is to look.
pub struct Look<'a> {
    pub asking: &'a Asking,
    /// The task whose lines are drawn in ink.
    pub chosen: Option<&'a str>,
    /// The task around which the picture is.
    pub focus: Option<&'a str>,
    /// The task that is best started next.
    pub first: Option<&'a str>,
}

/// A line between two places, and whether what comes first is done.
type Line = (usize, usize, bool);

pub fn picture(visit: &Visit<'_>, found: &Picture, look: &Look<'_>) -> Markup {
    let tasks = found.tasks.iter().map(Drawn::Task);
    let all: Vec<Drawn<'_>> = tasks.chain(found.folds.iter().map(Drawn::Fold)).collect();
    let mut lines = lines(found);
    let left_out = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    let sizes: Vec<Size> = all.iter().map(Drawn::size).collect();
    let pairs: Vec<(usize, usize)> = lines.iter().map(|(from, to, _)| (*from, *to)).collect();
    let placed = layout(&sizes, &pairs);
    let chosen = found
        .tasks
        .iter()
        .position(|task| Some(task.id.as_str()) == look.chosen);
    let inked = inked(&pairs, chosen, found.focus.is_none());
    let (width, height) = (placed.width + 2.0 * MARGIN, placed.height + 2.0 * MARGIN);
    html! {
        svg.graph id="graph" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height)
            role="group" aria-label="What must come before what" {
            g transform={ "translate(" (MARGIN) " " (MARGIN) ")" } {
                g id="lines" { (drawn_lines(&placed, &lines, &inked)) }
                @for (at, one) in all.iter().enumerate() {
                    @match one {
                        Drawn::Task(task) => (node(visit, task, placed.nodes[at], look, &near(found, &task.id))),
                        Drawn::Fold(one) => (fold(visit, one, placed.nodes[at], found.focus.as_deref())),
                    }
                }
            }
        }
        @if left_out > 0 { p.meta { (number(left_out as i64)) " lines are left out." } }
    }
}

/// The lines between the tasks, and those to what is folded.
fn lines(found: &Picture) -> Vec<Line> {
    let places: HashMap<&str, usize> = found
        .tasks
        .iter()
        .enumerate()
        .map(|(at, task)| (task.id.as_str(), at))
        .collect();
    let mut lines: Vec<Line> = found
        .edges
        .iter()
        .filter_map(|edge| {
            let (first, then) = (
                places.get(edge.first.as_str())?,
                places.get(edge.then.as_str())?,
            );
            Some((*first, *then, edge.satisfied))
        })
        .collect();
    let focus = found
        .focus
        .as_deref()
        .and_then(|focus| places.get(focus).copied());
    for (at, fold) in found.folds.iter().enumerate() {
        let place = found.tasks.len() + at;
        // A fold hangs on that of the step before it; the first ones on the focus.
        let nearer = fold.step - fold.step.signum();
        let beside = found
            .folds
            .iter()
            .position(|other| nearer != 0 && other.step == nearer);
        let beside = beside.map(|at| found.tasks.len() + at).or(focus);
        match (beside, fold.step < 0) {
            (Some(beside), true) => lines.push((place, beside, false)),
            (Some(beside), false) => lines.push((beside, place, false)),
            (None, _) => {}
        }
    }
    lines
}

/// The lines of what is chosen, both ways: in the whole picture however far they lead, around a focus its
/// own.
fn inked(pairs: &[(usize, usize)], chosen: Option<usize>, far: bool) -> HashSet<usize> {
    let mut inked = HashSet::new();
    let Some(chosen) = chosen else {
        return inked;
    };
    for forward in [true, false] {
        let (mut seen, mut left) = (HashSet::from([chosen]), vec![chosen]);
        while let Some(at) = left.pop() {
            for (line, (from, to)) in pairs.iter().enumerate() {
                let (here, there) = if forward { (*from, *to) } else { (*to, *from) };
                if here == at {
                    inked.insert(line);
                    if far && seen.insert(there) {
                        left.push(there);
                    }
                }
            }
        }
    }
    inked
}

fn drawn_lines(placed: &Layout, lines: &[Line], inked: &HashSet<usize>) -> Markup {
    let drawn = |ink: bool| {
        html! {
            @for (at, (_, _, satisfied)) in lines.iter().enumerate().filter(|(at, _)| inked.contains(at) == ink) {
                (draw::line(&placed.lines[at], if ink { "ink" } else if *satisfied { "half" } else { "" }))
            }
        }
    };
    // The chosen ones lie above the others.
    html! { (drawn(false)) (drawn(true)) }
}

/// What comes right before and right after a task, for the arrow keys.
fn near(found: &Picture, id: &str) -> (String, String) {
    let before = found
        .edges
        .iter()
        .filter(|edge| edge.then == id)
        .map(|edge| edge.first.as_str());
    let after = found
        .edges
        .iter()
        .filter(|edge| edge.first == id)
        .map(|edge| edge.then.as_str());
    (
        before.collect::<Vec<_>>().join(" "),
        after.collect::<Vec<_>>().join(" "),
    )
}

fn node(
    visit: &Visit<'_>,
    task: &Task,
    at: Point,
    look: &Look<'_>,
    (before, after): &(String, String),
) -> Markup {
    let standing = Standing::of(task, look.asking);
    let mut words = standing.words(task, visit.now);
    if look.first == Some(task.id.as_str()) && task.state == State::Ready {
        words.push_str(" · first");
    }
    let chosen = look.chosen == Some(task.id.as_str());
    let link = link(visit, &task.id, look.focus);
    let said = format!("{}, {}, {words}", plain(&task.summary), task.id);
    html! {
        g.node.(standing.class).is-chosen[chosen] id={ "node-" (task.id) } data-row data-task=(task.id)
            data-before=[(!before.is_empty()).then_some(before)] data-after=[(!after.is_empty()).then_some(after)]
            transform={ "translate(" (at.x) " " (at.y) ")" } {
            a.title href=(link) data-soft data-peek aria-label=(said) aria-current=[chosen.then_some("true")] {
                title { (said) }
                // The label says it whole; the drawn words are cut and broken into lines.
                g aria-hidden="true" {
                    @if is_over(task) { (small(task, &standing)) } @else { (card(task, &standing, &words)) }
                }
            }
        }
    }
}

/// Choosing a task opens its panel. Around a focus it becomes the focus first, and the panel, if there is
/// one, goes along.
fn link(visit: &Visit<'_>, id: &str, focus: Option<&str>) -> String {
    match focus.filter(|focus| *focus != id) {
        None => visit.with("work", &[("peek", Some(id))]),
        Some(_) => {
            let peek = visit.query.get("peek").map(|_| id);
            visit.with("work", &[("around", Some(id)), ("peek", peek)])
        }
    }
}

fn card(task: &Task, standing: &Standing, words: &str) -> Markup {
    let room = Size {
        width: CARD.width - 20.0,
        height: 40.0,
    };
    let said = draw::lines(words, 9.0);
    html! {
        rect.halo x="-3" y="-3" width=(CARD.width + 6.0) height=(CARD.height + 6.0) rx="10" {}
        rect.box width=(CARD.width) height=(CARD.height) rx="8" {}
        (draw::title(&task.summary, Point { x: 10.0, y: 9.0 }, room, 17.0))
        g class=(standing.mark.class()) transform="translate(10 52) scale(.875)" { (standing.mark.shape()) }
        text.state x="30" y="63" { (said.first().map(String::as_str).unwrap_or_default()) }
    }
}

/// What is done is a mark and a text: what is left is what one sees.
fn small(task: &Task, standing: &Standing) -> Markup {
    let room = Size {
        width: DONE.width - 26.0,
        height: 36.0,
    };
    let corner = Point {
        x: 22.0,
        y: if draw::lines(&task.summary, room.width / 13.52).len() > 1 {
            4.0
        } else {
            13.0
        },
    };
    html! {
        rect.halo x="-2" y="0" width=(DONE.width) height=(DONE.height) rx="8" {}
        g class=(standing.mark.class()) transform="translate(2 15) scale(.875)" { (standing.mark.shape()) }
        (draw::title(&task.summary, corner, room, 16.0))
    }
}

/// Tasks that are counted rather than drawn. The first ones on either side are listed on the task's page.
fn fold(visit: &Visit<'_>, fold: &Fold, at: Point, focus: Option<&str>) -> Markup {
    let count = format!("{}{}", number(fold.count), if fold.more { "+" } else { "" });
    let said = match fold.step {
        -1 => format!("{count} more before"),
        1 => format!("{count} more right after"),
        ..=0 => format!("{count} before those"),
        _ => format!("{count} after those"),
    };
    let box_ = html! {
        rect.below x="3" y="4" width=(FOLD.width - 6.0) height="40" rx="8" {}
        rect.box width=(FOLD.width) height="40" rx="8" {}
        text.state x="12" y="24" { (said) }
    };
    html! {
        g.node.fold id={ "fold-" (fold.step) } transform={ "translate(" (at.x) " " (at.y) ")" } {
            @match focus.filter(|_| fold.step.abs() == 1) {
                Some(focus) => a href=(visit.link(&format!("work/{}", crate::text::segment(focus)))) aria-label=(said) { (box_) },
                None => { (box_) }
            }
        }
    }
}
