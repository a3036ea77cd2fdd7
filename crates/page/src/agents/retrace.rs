//! Retrace: what an agent paid attention to in a stretch of time, step by step, with the document as it was at
//! each step.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::kernel::log::steps::{Step, place_at};
use understory_model::{Fault, Seq, Time};

use super::steps::{clock, list, sentence, sign};
use super::{Person, attention, document, moment, span};
use crate::marks::mark;
use crate::text::{count, plain};
use crate::visit::Visit;
use crate::{Content, Place};

/// Steps that are retraced at once.
const STEPS: usize = 100;
const HOUR: i64 = 3_600 * 1_000_000;
/// Stretches before its last step that can be chosen.
const SPANS: [(&str, i64); 3] = [("Hour", HOUR), ("Day", 24 * HOUR), ("Week", 7 * 24 * HOUR)];
/// Steps are as many units apart on the track.
const UNIT: usize = 10;

/// The stretch, newest first.
struct Stretch {
    steps: Vec<Step>,
    /// Whether there are older steps in it.
    more: bool,
    /// When its agent last did something.
    last: Time,
}

impl Stretch {
    /// What the address asks for: `from` and `to` are places in the log or moments; by default the hour
    /// before the last step.
    fn of(visit: &Visit<'_>, name: &str) -> Result<Stretch, Fault> {
        let last = attention(visit, name, (Seq::FIRST, Seq::MAX), 1)?;
        let last = last
            .first()
            .map_or(visit.now, |step| moment(&step.entry.at));
        let from = match visit.query.get("from") {
            Some(text) => place(visit, "from", text)?,
            None if visit.query.get("to").is_some() => Seq::FIRST,
            None => at_moment(visit, last.minus(HOUR))?,
        };
        // A moment ends a stretch before it, and a step ends it after itself.
        let before = match visit.query.get("to") {
            Some(text) if text.parse::<i64>().is_ok() => place(visit, "to", text)? + 1,
            Some(text) => place(visit, "to", text)?,
            None => Seq::MAX,
        };
        let mut steps = attention(visit, name, (from, before), STEPS + 1)?;
        let more = steps.len() > STEPS;
        steps.truncate(STEPS);
        Ok(Stretch { steps, more, last })
    }

    /// The step at which the page stands, from the first: by its place in the log, or the last before that.
    fn chosen(&self, visit: &Visit<'_>) -> usize {
        let at: Option<i64> = visit.query.get("at").and_then(|at| at.parse().ok());
        let oldest_first = self.steps.iter().rev();
        let until = oldest_first.filter(|step| at.is_some_and(|at| step.entry.seq.0 <= at));
        until.count().saturating_sub(1)
    }
}

fn place(visit: &Visit<'_>, field: &str, text: &str) -> Result<Seq, Fault> {
    match text.trim_start_matches('#').parse() {
        Ok(seq) => Ok(Seq(seq)),
        Err(_) => at_moment(visit, Time::parse(field, text)?),
    }
}

fn at_moment(visit: &Visit<'_>, at: Time) -> Result<Seq, Fault> {
    let context = &visit.context;
    context
        .engine
        .view(context.caller, |view| place_at(view, at))
}

pub fn page(visit: &Visit<'_>, name: &str) -> Result<Content, Fault> {
    let person = Person::find(visit, name)?;
    let stretch = Stretch::of(visit, name)?;
    let chosen = stretch.chosen(visit);
    let steps: Vec<&Step> = stretch.steps.iter().rev().collect();
    let now = steps.get(chosen).copied();
    let at = now.map_or(0, |step| step.entry.seq.0);
    let found = document::attention(visit, &stretch.steps, at)?;
    let base = format!("{}/retrace", person.place);
    let with = |seq: i64| visit.with(&base, &[("at", Some(seq.to_string().as_str()))]);
    let took = match (steps.first(), steps.last()) {
        (Some(first), Some(last)) => moment(&last.entry.at).0 - moment(&first.entry.at).0,
        _ => 0,
    };
    let name = plain(name);
    Ok(Content {
        place: Place::Timeline,
        title: name.clone(),
        counts: format!(
            "{} in {}",
            span(took),
            count(steps.len() as i64, "step", "steps")
        ),
        controls: html! { (person.views(visit, true)) (spans(visit, &base, &stretch)) },
        list: Some(html! {
            header.steps-head {
                b { @if steps.is_empty() { "No step" } @else { "Step " (chosen + 1) " of " (steps.len()) } }
                @if let (Some(first), Some(last)) = (steps.first(), steps.last()) {
                    span.meta { (clock(&first.entry.at)) " to " (clock(&last.entry.at)) }
                }
            }
            @if steps.is_empty() { p.empty { b { (name) " did nothing in this time." } } }
            @if stretch.more && let Some(first) = steps.first() {
                @let to = (first.entry.seq.0 - 1).to_string();
                p.more { a data-soft href=(visit.with(&base, &[("to", Some(to.as_str())), ("at", None)])) { "Show 100 before" } }
            }
            (list_of(visit, &steps, at, &base))
        }),
        main: html! {
            p.to-list { a data-soft href=(visit.with(&base, &[("at", None)])) { "All steps" } }
            @if let Some(step) = now.filter(|step| step.look.is_none()) {
                div.apart { (clock(&step.entry.at)) (mark(sign(step))) p { (name) " " (sentence(step)) } }
            }
            @if let Some(found) = &found {
                div data-step=(at) id="attention" { (document::show(visit, &name, found)) }
            } @else if now.is_some() {
                p.empty { "No step until then is about a document." }
            }
        },
        flush: true,
        is_one: visit.query.get("at").is_some(),
        foot: (!steps.is_empty()).then(|| transport(&steps, chosen, with)),
        json: json!({"agent": person.agent, "steps": steps, "at": at, "attention": found}),
        ..Content::default()
    })
}

/// The steps, each with an address that keeps the stretch.
fn list_of(visit: &Visit<'_>, steps: &[&Step], at: i64, base: &str) -> Markup {
    let kept: String = ["from", "to"]
        .iter()
        .filter_map(|name| Some((name, visit.query.get(name)?)))
        .map(|(name, value)| format!("{name}={}&", crate::text::segment(value)))
        .collect();
    list(visit, steps, Some(at), |seq| {
        format!("{base}?{kept}at={seq}")
    })
}

/// How far back from its last step.
fn spans(visit: &Visit<'_>, base: &str, stretch: &Stretch) -> Markup {
    let chosen = visit.query.get("from");
    html! {
        nav.views aria-label="How far back" {
            @for (word, micros) in SPANS {
                @let from = stretch.last.minus(micros).to_string();
                @let current = chosen == Some(from.as_str()) || (chosen.is_none() && visit.query.get("to").is_none() && micros == HOUR);
                a href=(visit.link(&format!("{base}?from={}", crate::text::segment(&from)))) aria-current=[current.then_some("true")] { (word) }
            }
        }
    }
}

/// To go on and back, to play, and all steps in their order.
fn transport(steps: &[&Step], chosen: usize, link: impl Fn(i64) -> String) -> Markup {
    let seq = |at: usize| steps.get(at).map(|step| step.entry.seq.0);
    let (back, next) = (chosen.checked_sub(1).and_then(seq), seq(chosen + 1));
    let wide = UNIT * steps.len();
    html! {
        div.transport id="transport" {
            (arrow("prev", back.map(&link), ("ArrowLeft", "The step before"), "M12 3v10L5 8zM4 3v10"))
            button.main.scripted id="play" type="button" data-play data-own="play" aria-label="Play" title="Play (space)" { "▶" }
            (arrow("next", next.map(&link), ("ArrowRight", "The next step"), "M4 3v10l7-5zM12 3v10"))
            div.played id="played" {
                ol {
                    @for (at, step) in steps.iter().enumerate() {
                        @let is_now = at == chosen;
                        li.is-now[is_now].is-after[at > chosen] {
                            a data-soft data-at=(moment(&step.entry.at).0 / 1_000) href=(link(step.entry.seq.0))
                                aria-label={ "Step " (at + 1) } aria-current=[is_now.then_some("step")] { (mark(sign(step))) }
                        }
                    }
                }
                svg aria-hidden="true" height="2" viewBox={ "0 0 " (wide) " 2" } preserveAspectRatio="none" {
                    rect.all width=(wide) height="2" {}
                    rect.past width=(UNIT * chosen + UNIT / 2) height="2" {}
                }
            }
            div.views.scripted id="speed" data-own="speed" role="group" aria-label="Speed" {
                @for speed in ["1", "4", "16"] { button type="button" data-speed=(speed) aria-pressed=(speed == "4") { (speed) "×" } }
                button type="button" data-speed="0" aria-pressed="false" { "Steps" }
            }
            p.meta.scripted data-own="said" id="pause-said" { kbd { "←" } kbd { "→" } " step " kbd { "space" } " play, pause" }
        }
    }
}

/// A step on or back; a link as long as there is one.
fn arrow(
    rel: &str,
    link: Option<String>,
    (key, label): (&str, &str),
    shape: &'static str,
) -> Markup {
    let picture = html! { svg.mark viewBox="0 0 16 16" aria-hidden="true" { path d=(shape) fill="currentColor" stroke="currentColor" {} } };
    html! {
        @match link {
            Some(link) => a.button.plain id={ "to-" (rel) } rel=(rel) data-soft data-hotkey=(key) href=(link) aria-label=(label) title=(label) { (picture) },
            None => span.is-off id={ "to-" (rel) } aria-hidden="true" { (picture) },
        }
    }
}
