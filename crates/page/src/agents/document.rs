//! The document that somebody looked at, as it was then: its lines, those that were looked at lit, what was
//! noted beside them, and a map of it.

use maud::{Markup, html};
use serde::Serialize;
use serde_json::json;
use understory_engine::garden::artifact::show::{Line, Lines};
use understory_engine::kernel::log::steps::{Does, Look, Step};
use understory_model::Fault;

use super::steps::{clock, tag};
use crate::marks::{Mark, mark};
use crate::text::{count, segment, stored};
use crate::visit::Visit;

/// Lines that are shown of a longer document, and how many of them stand before those that are lit.
const LINES: i64 = 400;
const BEFORE: i64 = 60;
/// Notes that are shown beside the lines.
const NOTES: usize = 5;
/// Bars of the map, the height of one, and the widest.
const BARS: usize = 240;
const BAR: usize = 8;
const WIDE: usize = 40;
/// Width and greatest height of the map.
const MAP: usize = 56;
const TALL: usize = 640;

/// What somebody had before its eyes at a step.
#[derive(Serialize)]
pub struct Attention<'s> {
    /// The step that was about a document, and the look around it, where that was wider.
    pub step: &'s Step,
    pub around: Option<&'s Step>,
    /// What was noted since.
    pub notes: Vec<&'s Step>,
    pub document: Lines,
}

/// The document at a step: of that step itself or the last one before it, of steps that stand newest
/// first. Nothing where none was about a document that can still be shown.
pub fn attention<'s>(
    visit: &Visit<'_>,
    steps: &'s [Step],
    at: i64,
) -> Result<Option<Attention<'s>>, Fault> {
    let until: Vec<&Step> = steps.iter().filter(|step| step.entry.seq.0 <= at).collect();
    let Some(place) = until.iter().position(|step| step.look.is_some()) else {
        return Ok(None);
    };
    let (notes, rest) = until.split_at(place);
    let (Some(step), notes) = (rest.first(), notes.iter()) else {
        return Ok(None);
    };
    let Some(look) = &step.look else {
        return Ok(None);
    };
    let Some(document) = lines(visit, look)? else {
        return Ok(None);
    };
    let same = |other: &Look| other.artifact == look.artifact && other.commit == look.commit;
    let looks = |step: &&&Step| {
        step.look
            .as_ref()
            .is_some_and(|other| other.does == Does::Looks && same(other))
    };
    let around = match look.does {
        Does::Looks | Does::Changes => None,
        Does::Selects | Does::Seeks | Does::Proposes => rest[1..].iter().find(looks).copied(),
    };
    let noted = |step: &&&Step| step.look.is_none() && step.said.is_some();
    let mut notes: Vec<&Step> = notes.filter(noted).take(NOTES).copied().collect();
    notes.reverse();
    Ok(Some(Attention {
        step,
        around,
        notes,
        document,
    }))
}

/// The lines as they were, around those that are lit.
fn lines(visit: &Visit<'_>, look: &Look) -> Result<Option<Lines>, Fault> {
    let first = look.lines.first().map_or(1, |(start, _)| *start);
    let start = if first + BEFORE > LINES {
        first - BEFORE
    } else {
        1
    };
    let mut asked = json!({"artifact": look.artifact, "end": start + LINES - 1});
    if start > 1 {
        asked["start"] = start.into();
    }
    if let Some(commit) = &look.commit {
        asked["commit"] = commit.as_str().into();
    }
    visit.ask_if_there("garden_artifact_show", asked)
}

/// How a line is lit, the strongest last.
fn light(found: &Attention<'_>, line: i64) -> &'static str {
    let within = |step: &Step| {
        let ranges = step.look.iter().flat_map(|look| &look.lines);
        ranges
            .into_iter()
            .any(|(start, end)| (*start..=*end).contains(&line))
    };
    let does = found.step.look.as_ref().map(|look| look.does);
    match does {
        Some(does) if within(found.step) => match does {
            Does::Looks | Does::Seeks => "is-looked",
            Does::Selects => "is-selected",
            Does::Proposes => "is-proposed",
            Does::Changes => "is-written",
        },
        _ if found.around.is_some_and(within) => "is-looked",
        _ => "",
    }
}

/// The tags of ranges that begin at a line.
fn tags(found: &Attention<'_>, name: &str, line: i64) -> Vec<String> {
    let steps = found.around.into_iter().chain([found.step]);
    let looks = steps.filter_map(|step| step.look.as_ref());
    looks
        .flat_map(|look| look.lines.iter().map(|range| (look.does, *range)))
        .filter(|(_, (start, _))| *start == line)
        .map(|(does, range)| tag(name, does, range))
        .collect()
}

/// The line beneath which notes and proposals stand.
fn noted_at(found: &Attention<'_>) -> i64 {
    let lines = found.step.look.as_ref().map(|look| look.lines.as_slice());
    let last = lines.and_then(<[_]>::last);
    last.map_or(0, |(start, end)| *start.max(end))
}

/// The column: its head, the lines and the map.
pub fn show(visit: &Visit<'_>, name: &str, found: &Attention<'_>) -> Markup {
    let Some(look) = &found.step.look else {
        return Markup::default();
    };
    let document = &found.document;
    let (first, last) = (
        document.lines.first().map_or(0, |line| line.line),
        document.lines.last().map_or(0, |line| line.line),
    );
    html! {
        header.as-it-was {
            (mark(Mark::Artifact))
            b { (stored(&look.label)) }
            span.meta {
                "as it was at " (clock(&found.step.entry.at)) ", "
                @if let Some(commit) = &look.commit { "version " span.handle { (commit.get(..7).unwrap_or(commit)) } ", " }
                (count(document.total as i64, "line", "lines"))
            }
            a.button.plain href=(visit.link(&format!("artifacts/{}", segment(&document.artifact.label)))) { "Open as it is now" }
        }
        div.was-read {
            div.scroll {
                @if first > 1 { p.meta.elsewhere { (count(first as i64 - 1, "line", "lines")) " before these" } }
                @if document.lines.is_empty() { p.empty { "It is empty." } }
                ol.was id="doc" aria-label={ "Lines of " (look.label) } {
                    @for line in &document.lines { (line_of(found, name, line)) }
                }
                @if noted_at(found) > last as i64 { (notes(found, name)) }
                @if last < document.total {
                    p.meta.elsewhere { (count((document.total - last) as i64, "line", "lines")) " after these" }
                }
            }
            (map(found))
        }
    }
}

fn line_of(found: &Attention<'_>, name: &str, line: &Line) -> Markup {
    let number = line.line as i64;
    let light = light(found, number);
    html! {
        li.(light) id={ "line-" (number) } {
            span.n { (number) }
            span.text dir="auto" { @if line.content.trim().is_empty() { "\u{A0}" } @else { (stored(&line.content)) } }
            @for tag in tags(found, name, number) { span.does { (tag) } }
        }
        @if number == noted_at(found) { (notes(found, name)) }
    }
}

/// What was proposed for the lines, and what was noted about them.
fn notes(found: &Attention<'_>, name: &str) -> Markup {
    let proposed = found.step.look.as_ref().map(|look| look.does) == Some(Does::Proposes);
    let words = found.step.said.as_deref().unwrap_or_default();
    html! {
        @if proposed {
            li.noted.is-proposed id={ "note-" (found.step.entry.seq) } {
                p.meta { (stored(name)) " proposes, " (clock(&found.step.entry.at)) }
                @if words.is_empty() { p { "to take these lines away" } } @else { p dir="auto" { (stored(words)) } }
            }
        }
        @for note in &found.notes {
            li.noted id={ "note-" (note.entry.seq) } {
                p.meta { (stored(name)) " notes, " (clock(&note.entry.at)) }
                p dir="auto" { (stored(note.said.as_deref().unwrap_or_default())) }
            }
        }
    }
}

/// The shape of the lines, with those that are lit; the lines beside it say the same.
fn map(found: &Attention<'_>) -> Markup {
    let lines = &found.document.lines;
    let each = lines.len().div_ceil(BARS).max(1);
    let bars = lines.len().div_ceil(each);
    let (tall, height) = (bars * BAR, (bars * BAR).min(TALL));
    html! {
        svg.was-map aria-hidden="true" width=(MAP) height=(height) viewBox={ "0 0 " (MAP) " " (tall) } preserveAspectRatio="none" {
            @for (at, lines) in lines.chunks(each).enumerate() {
                @let lit = lines.iter().map(|line| light(found, line.line as i64)).find(|light| !light.is_empty());
                @if let Some(lit) = lit { rect.(lit) x="0" y=(at * BAR) width=(MAP) height=(BAR) {} }
                @let long = lines.iter().map(|line| line.content.trim().chars().count()).max().unwrap_or(0);
                @if long > 0 { rect.bar x="8" y=(at * BAR + 3) width=(2 + long.min(WIDE) * 38 / WIDE) height="2" {} }
            }
        }
    }
}
