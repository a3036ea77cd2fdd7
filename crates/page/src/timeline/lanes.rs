//! The picture: a lane for each agent, with marks for what it did and spans for what it held, the line
//! of now, and the lines between an item, its causes and its effects.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};
use understory_engine::kernel::surface::{Sign, Surface};
use understory_engine::system::timeline::{Claim, Lane, Unit, Waiting};
use understory_model::text::cut;
use understory_model::{Fault, Seq, Time};

use super::layout::{self, DAY, Placed, Window, bounded, height, ticks};
use super::when::{self, form, told};
use super::{LANES, MARKS, Shown, called, choose, list, mark_of, name_of};
use crate::marks::who;
use crate::text::{age, count, number, plain, segment, stored};
use crate::visit::Visit;

/// The heights of a lane: of one with one row of claims, of each further row, and of one in bars.
const LANE: f64 = 106.0;
const ROW: f64 = 22.0;
const BAR_LANE: f64 = 48.0;
/// Where a lane's marks stand, and its first claim.
const MARK: f64 = 34.0;
const CLAIM: f64 = 54.0;
/// The height of a claim, and of the tallest bar.
const CLAIM_HIGH: f64 = 18.0;
const TALLEST: f64 = 28.0;
/// How much of a text the picture shows.
const LABEL: usize = 48;

/// A lane with its place in the picture.
struct Track<'s> {
    lane: &'s Lane,
    top: f64,
    high: f64,
    placed: Vec<Placed>,
    rows: Vec<Option<usize>>,
}

/// Where an item stands: in percent of the width, and in pixels from the top.
type Point = (f64, f64);

pub fn picture(visit: &Visit<'_>, shown: &Shown) -> Result<Markup, Fault> {
    let tracks = tracks(shown);
    let end = tracks.last().map_or(0.0, |track| track.top + track.high);
    let window = shown.window();
    let (step, lines) = ticks(window, 8);
    let points = points(shown, &tracks);
    Ok(html! {
        section.lanes id="lanes" aria-label="Who did what when" data-from=(window.from.0 / 1000) data-to=(window.to.0 / 1000)
            data-long[window.length() >= DAY] data-live[shown.asked.live] {
            div.axis {
                (zoom(visit, window))
                svg height="34" aria-hidden="true" {
                    @for at in &lines {
                        text x={ (window.percent(*at)) "%" } y="21" data-at=(at.0 / 1000) data-form=(form(step)) { (told(*at, form(step))) }
                    }
                }
            }
            div.tracks {
                ol { @for track in &tracks { (label(visit, shown, track)?) } (others(shown)) }
                svg.picture id="picture" height=(end) role="group" aria-label="Lanes" .has-chosen[!points.is_empty()] {
                    (shapes())
                    @for at in &lines { line.line x1={ (window.percent(*at)) "%" } x2={ (window.percent(*at)) "%" } y1="0" y2=(end) {} }
                    @for track in &tracks { line.line x1="0" x2="100%" y1=(track.top + track.high - 0.5) y2=(track.top + track.high - 0.5) {} }
                    @if let Unit::Bars(width) = shown.lanes.unit { (columns(visit, shown, width, end)) (bars(shown, &tracks, width)) }
                    @for track in &tracks { (spans(shown, track)) }
                    (edges(shown, &points, end))
                    @for track in &tracks { (span_words(visit, shown, track)) }
                    @for track in &tracks { (marks(visit, shown, track, &points)) }
                    (labels(shown, &points))
                    @if shown.asked.live {
                        line.now x1="100%" x2="100%" y1="0" y2=(end) {}
                        circle.now cx="100%" cy="0" r="3" {}
                    }
                }
            }
            @if !shown.in_bars() { (list::legend()) }
        }
    })
}

fn zoom(visit: &Visit<'_>, window: Window) -> Markup {
    let near = if window.to < visit.now {
        window.scaled(0.5)
    } else {
        window.scaled_to_end(0.5)
    };
    let far = if window.to < visit.now {
        window.scaled(2.0)
    } else {
        window.scaled_to_end(2.0)
    };
    let part = |label: &str, sign: &str, key: Option<&str>, there: Window| {
        html! { a data-soft aria-label=(label) title=(label) data-hotkey=[key] href=(when::link(visit, there)) { (sign) } }
    };
    html! {
        nav.zoom aria-label="Window" {
            (part("Earlier", "‹", None, window.moved(-0.75)))
            (part("Zoom out", "−", Some("-"), far))
            (part("Zoom in", "+", Some("+"), near))
            @if window.to < visit.now { (part("Later", "›", None, window.moved(0.75))) }
        }
    }
}

fn tracks(shown: &Shown) -> Vec<Track<'_>> {
    let lanes = &shown.lanes.lanes[..shown.lanes.lanes.len().min(LANES)];
    let dots: Vec<&[_]> = lanes.iter().map(|lane| lane.marks.as_slice()).collect();
    let placed = bounded(&dots, shown.window(), &shown.related(), MARKS);
    let mut top = 0.0;
    let mut tracks = Vec::with_capacity(lanes.len());
    for (lane, placed) in lanes.iter().zip(placed) {
        let rows = layout::rows(&lane.claims, shown.now);
        let more = rows.iter().flatten().max().copied().unwrap_or(0);
        let high = if shown.in_bars() {
            BAR_LANE
        } else {
            LANE + ROW * more as f64
        };
        tracks.push(Track {
            lane,
            top,
            high,
            placed,
            rows,
        });
        top += high;
    }
    tracks
}

/// Who a lane is of, and what they are on.
fn label(visit: &Visit<'_>, shown: &Shown, track: &Track<'_>) -> Result<Markup, Fault> {
    let name = track.lane.agent.as_str();
    let you = name == shown.you;
    let more = track.rows.iter().flatten().max().copied().unwrap_or(0);
    let size = if shown.in_bars() {
        "in-bars".to_owned()
    } else {
        format!("rows-{}", more + 1)
    };
    let waits = waits(shown, name);
    let silent = silent(track.lane);
    let alive = visit
        .around()?
        .who
        .agents
        .iter()
        .find(|one| one.agent == name);
    let life = match (you, waits, silent, alive) {
        (true, ..) => "",
        (_, Some(_), ..) => "waits",
        (_, _, Some(_), _) => "silent",
        (.., Some(_)) => "alive",
        _ => "",
    };
    Ok(html! {
        li.(size) id={ "lane-" (segment(name)) } {
            span.badge { (who(name, you)) @if !life.is_empty() { i.life.(life) {} } }
            a.cut href=(visit.link(&format!("agents/{}", segment(name)))) title=(plain(name)) { b { (stored(name)) } }
            @if shown.in_bars() { span.meta { (number(track.lane.count)) } }
            @else {
                p.meta.cut {
                    @if you { "you" }
                    @else if waits.is_some() { "waits for you" }
                    @else if let Some(since) = silent { "silent " (age(visit, since)) }
                    @else if let Some(on) = alive.and_then(|one| one.on.first()) { (stored(on)) }
                    @else { (count(track.lane.count, "item", "items")) }
                }
            }
        }
    })
}

fn others(shown: &Shown) -> Markup {
    let others = &shown.lanes.others;
    html! {
        @if others.agents > 0 {
            li.others.meta { (number(others.agents)) " more who wrote less, " (count(others.items, "item", "items")) }
        }
        @if shown.lanes.more { li.others.meta { "The newest " (count(shown.lanes.total, "item", "items")) " of more" } }
    }
}

fn waits<'s>(shown: &'s Shown, agent: &str) -> Option<&'s Waiting> {
    let current = shown.asked.live;
    shown
        .waiting
        .iter()
        .find(|one| current && one.agent == agent)
}

/// Since when somebody gives no sign of life who still holds something.
fn silent(lane: &Lane) -> Option<Time> {
    lane.claims
        .iter()
        .filter_map(|claim| claim.silent_since)
        .max()
}

/// The shapes of marks and of arrow heads, which the picture uses by their names.
fn shapes() -> Markup {
    html! {
        defs {
            @for surface in Surface::ALL {
                g id={ "k-" (surface.as_str()) } transform="translate(-7 -7) scale(.875)" { (mark_of(surface).shape()) }
            }
            path id="arrow-down" d="M-3.5-7h7L0 0z" {}
            path id="arrow-up" d="M-3.5 7h7L0 0z" {}
        }
    }
}

/// What all did in each stretch; a link that goes there.
fn columns(visit: &Visit<'_>, shown: &Shown, width: i64, end: f64) -> Markup {
    let window = shown.window();
    let part = width as f64 / window.length() as f64 * 100.0;
    let form = if width < DAY { "hour" } else { "date" };
    html! {
        g.of-time {
            @for column in &shown.lanes.columns {
                @let to = Time(column.at.0 + width);
                @let what: Vec<String> = column.surfaces.iter().map(|(of, n)| format!("{} {}", number(*n), name_of(*of))).collect();
                a data-go tabindex="-1" href=(when::link(visit, Window { from: column.at, to })) {
                    rect x={ (format!("{:.2}", window.part(column.at) * 100.0)) "%" } width={ (format!("{part:.2}")) "%" } height=(end) {}
                    title data-at=(column.at.0 / 1000) data-form=(form) { (what.join("\n")) "\n" (told(column.at, form)) }
                }
            }
        }
    }
}

fn bars(shown: &Shown, tracks: &[Track<'_>], width: i64) -> Markup {
    let window = shown.window();
    let largest = tracks
        .iter()
        .flat_map(|track| &track.lane.bars)
        .map(|(_, n)| *n)
        .max();
    let unit = 1000.0 * width as f64 / window.length() as f64;
    let path = |lane: &Lane| {
        let bars = lane.bars.iter().map(|(at, n)| {
            let high = height(*n, largest.unwrap_or(0), TALLEST);
            let x = window.part(*at) * 1000.0 + unit * 0.1;
            format!("M{x:.1} {TALLEST}v-{high}h{:.1}v{high}z", unit * 0.75)
        });
        bars.collect::<String>()
    };
    html! {
        @for track in tracks {
            svg.bars y=(track.top + BAR_LANE - TALLEST - 8.0) height=(TALLEST) width="100%" viewBox={ "0 0 1000 " (TALLEST) }
                preserveAspectRatio="none" { path d=(path(track.lane)) {} }
        }
    }
}

/// Each part of a claim, from when to when and how it is drawn.
fn pieces(shown: &Shown, lane: &Lane, claim: &Claim) -> Vec<(Time, Time, &'static str)> {
    let now = shown.now;
    if let Some(until) = claim.until {
        return vec![(
            claim.since,
            until,
            if claim.ended == "done" {
                "done"
            } else {
                "ended"
            },
        )];
    }
    let end = claim
        .expires
        .map_or(now, |expires| expires.min(now).max(claim.since));
    if let Some(silent) = claim.silent_since {
        let silent = silent.clamp(claim.since, end);
        return vec![
            (claim.since, silent, "held"),
            (silent, now.max(end), "silent"),
        ];
    }
    let newest = lane.claims.iter().rev().find(|one| one.until.is_none());
    match waits(shown, &lane.agent) {
        Some(waiting) if newest == Some(claim) => {
            let since = waiting.since.clamp(claim.since, now);
            vec![(claim.since, since, "held"), (since, now, "waits")]
        }
        _ => vec![(claim.since, now, "held")],
    }
}

fn claimed<'t>(track: &'t Track<'_>) -> impl Iterator<Item = (&'t Claim, f64)> {
    let claims = track.lane.claims.iter().zip(&track.rows);
    claims.filter_map(|(claim, row)| Some((claim, track.top + CLAIM + ROW * (*row)? as f64)))
}

fn spans(shown: &Shown, track: &Track<'_>) -> Markup {
    let window = shown.window();
    html! {
        @for (claim, y) in claimed(track) {
            @for (n, (from, to, class)) in pieces(shown, track.lane, claim).into_iter().enumerate() {
                @if to > window.from && from < window.to {
                    @let (x, end) = (window.percent(from), window.percent(to));
                    rect.span.(class) x={ (x) "%" } width={ (format!("{:.2}", (end - x).max(0.3))) "%" } y=(y) height=(CLAIM_HIGH) {}
                    @if n == 0 && from >= window.from { rect.start.(class) x={ (x) "%" } width="3" y=(y) height=(CLAIM_HIGH) {} }
                }
            }
        }
        @if let Some(silent) = silent(track.lane).filter(|at| window.holds(*at)) {
            line.quiet x1={ (window.percent(silent)) "%" } x2={ (window.percent(shown.now)) "%" } y1=(track.top + MARK) y2=(track.top + MARK) {}
        }
    }
}

/// The words of the spans, which lie over the lines.
fn span_words(visit: &Visit<'_>, shown: &Shown, track: &Track<'_>) -> Markup {
    let window = shown.window();
    html! {
        @for (claim, y) in claimed(track) {
            @for (n, (from, to, class)) in pieces(shown, track.lane, claim).into_iter().enumerate() {
                @if to > window.from && from < window.to {
                    @let (x, end) = (window.percent(from), window.percent(to));
                    svg.held x={ (x) "%" } width={ (format!("{:.2}", end - x)) "%" } y=(y) height=(CLAIM_HIGH) {
                        text.(class) x="8" y="13" {
                            @if n == 0 { a href=(visit.link(&format!("work/{}", segment(&claim.id)))) { (claim.id) " " (plain(&claim.title)) } }
                            @else if class == "waits" { "waits for you, " (age_of(shown, from)) }
                            @else { (ends(shown, claim)) }
                        }
                    }
                }
            }
        }
    }
}

fn age_of(shown: &Shown, since: Time) -> String {
    let minutes = (shown.now.0 - since.0).max(0) / 60_000_000;
    match minutes {
        ..60 => format!("{minutes} min"),
        60..1440 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1440),
    }
}

/// What follows from silence.
fn ends(shown: &Shown, claim: &Claim) -> Markup {
    let expires = claim.expires.unwrap_or(shown.now);
    html! {
        "no sign of life; "
        @if expires <= shown.now { "others may take it" }
        @else { "claim ends " tspan data-at=(expires.0 / 1000) data-form="clock" { (told(expires, "clock")) } }
    }
}

/// Where the chosen item, its causes and its effects stand, as far as they are in the picture.
fn points(shown: &Shown, tracks: &[Track<'_>]) -> HashMap<Seq, Point> {
    let Some(opened) = &shown.chosen else {
        return HashMap::new();
    };
    let window = shown.window();
    let steps = opened
        .causes
        .iter()
        .chain(&opened.effects)
        .map(|step| &step.shown);
    let all = steps.chain([&opened.shown]);
    let found = all.filter_map(|item| {
        let at = if shown.wanted.happened {
            item.happened_at
        } else {
            item.written_at
        };
        let track = tracks
            .iter()
            .find(|track| track.lane.agent == item.entry.actor)?;
        let middle = track.top + if shown.in_bars() { 10.0 } else { MARK };
        (window.holds(at) || at == window.to)
            .then(|| (item.entry.seq, (window.percent(at), middle)))
    });
    found.collect()
}

fn edges(shown: &Shown, points: &HashMap<Seq, Point>, end: f64) -> Markup {
    let Some(opened) = &shown.chosen else {
        return html! {};
    };
    let causes = opened
        .causes
        .iter()
        .map(|step| (step.shown.entry.seq, step.parent, "because"));
    let effects = opened
        .effects
        .iter()
        .map(|step| (step.parent, step.shown.entry.seq, "led"));
    let ends = causes.chain(effects);
    let drawn: Vec<(Point, Point, &str)> = ends
        .filter_map(|(from, to, class)| Some((*points.get(&from)?, *points.get(&to)?, class)))
        .collect();
    html! {
        svg.edges width="100%" height=(end) viewBox={ "0 0 1000 " (end) } preserveAspectRatio="none" {
            @for (from, to, class) in &drawn { path.(class) d=(curve(*from, *to)) vector-effect="non-scaling-stroke" {} }
        }
        @for (from, to, _) in &drawn {
            @let below = to.1 < from.1;
            @let y = if below { to.1 + 11.0 } else { to.1 - 11.0 };
            use.arrow href=(if below { "#arrow-up" } else { "#arrow-down" }) x={ (to.0) "%" } y=(y) {}
        }
    }
}

/// A line that leaves sideways and arrives from above, or from below if its end stands higher.
fn curve((x1, y1): Point, (x2, y2): Point) -> String {
    let (x1, x2) = (x1 * 10.0, x2 * 10.0);
    let ahead = if x2 >= x1 { 1.0 } else { -1.0 };
    let start = x1 + 12.0 * ahead;
    let rise = if y2 < y1 { 17.0 } else { -17.0 };
    let arrives = y2 + rise;
    if (y1 - y2).abs() < 1.0 {
        return format!(
            "M{start:.1} {:.1}C{start:.1} {:.1} {x2:.1} {:.1} {x2:.1} {arrives:.1}",
            y1 - 5.0,
            y1 - 26.0,
            y1 - 26.0
        );
    }
    format!(
        "M{start:.1} {y1:.1}C{x2:.1} {y1:.1} {x2:.1} {y1:.1} {x2:.1} {:.1}V{arrives:.1}",
        y1 + (arrives - y1) * 0.6
    )
}

fn marks(
    visit: &Visit<'_>,
    shown: &Shown,
    track: &Track<'_>,
    points: &HashMap<Seq, Point>,
) -> Markup {
    let y = track.top + if shown.in_bars() { 10.0 } else { MARK };
    let waiting: HashSet<Seq> = shown.waiting.iter().map(|one| one.seq).collect();
    let drawn: HashSet<Seq> = track.placed.iter().filter_map(|one| one.seq).collect();
    // What is related has a mark even where the others are counted only.
    let steps = shown.chosen.iter().flat_map(|opened| {
        let steps = opened
            .causes
            .iter()
            .chain(&opened.effects)
            .map(|step| &step.shown);
        steps.chain([&opened.shown])
    });
    let missing = steps.filter(|item| {
        item.entry.actor == track.lane.agent
            && points.contains_key(&item.entry.seq)
            && !drawn.contains(&item.entry.seq)
    });
    html! {
        @for one in &track.placed {
            @match one.seq {
                Some(seq) => {
                    @let amber = waiting.contains(&seq).then_some(Sign::Amber);
                    (dot(visit, shown, track.lane, (seq, one.at(), one.surface, one.sign.or(amber)), y, points.contains_key(&seq)))
                }
                None => { (several(visit, shown, track.lane, one, y)) }
            }
        }
        @for item in missing {
            (dot(visit, shown, track.lane, (item.entry.seq, item.happened_at, item.surface, item.sign), y, true))
        }
    }
}

fn dot(
    visit: &Visit<'_>,
    shown: &Shown,
    lane: &Lane,
    (seq, at, surface, sign): (Seq, Time, Surface, Option<Sign>),
    y: f64,
    related: bool,
) -> Markup {
    let chosen = shown
        .chosen
        .as_ref()
        .is_some_and(|opened| opened.shown.entry.seq == seq);
    let x = shown.window().percent(at);
    html! {
        a.dot.(sign.map(Sign::as_str).unwrap_or_default()) .is-related[related] .is-chosen[chosen] data-go
            id={ "dot-" (seq) } tabindex=(if chosen { "0" } else { "-1" }) href=(choose(visit, seq)) {
            @if chosen { circle.ring cx={ (x) "%" } cy=(y) r="12" {} }
            @else { circle.hit cx={ (x) "%" } cy=(y) r="9" {} }
            use href={ "#k-" (surface.as_str()) } x={ (x) "%" } y=(y) {}
            title data-at=(at.0 / 1000) data-form="clock" {
                (plain(called(shown, &lane.agent))) ": " (name_of(surface))
                @match sign { Some(Sign::Red) => { ", failed or two versions" } Some(Sign::Amber) => { ", waits for somebody" } None => {} }
                ", " (told(at, "clock"))
            }
        }
    }
}

/// Several that are too close to tell apart: a box that opens.
fn several(visit: &Visit<'_>, shown: &Shown, lane: &Lane, one: &Placed, y: f64) -> Markup {
    let words = number(one.count);
    let width = 12.0 + 7.0 * words.len() as f64;
    let there = Window::around(one.from, one.to);
    let x = shown.window().percent(one.at());
    html! {
        a.box data-go tabindex="-1" href=(when::link(visit, there)) {
            svg x={ (x) "%" } y=(y) overflow="visible" {
                rect x=(-width / 2.0) y="-10" width=(width) height="20" rx="4" {}
                text y="4" text-anchor="middle" { (words) }
            }
            title data-at=(one.from.0 / 1000) data-form="clock" {
                (plain(called(shown, &lane.agent))) ": " (count(one.count, "item", "items")) ", opens, " (told(one.from, "clock"))
            }
        }
    }
}

/// The words of the chosen item, and of what it all began with.
fn labels(shown: &Shown, points: &HashMap<Seq, Point>) -> Markup {
    let Some(opened) = &shown.chosen else {
        return html! {};
    };
    let first = opened
        .causes
        .iter()
        .rev()
        .find(|step| points.contains_key(&step.shown.entry.seq));
    let own = &opened.shown.entry;
    let name = own
        .name
        .as_deref()
        .or(own.handle.as_deref())
        .unwrap_or_default();
    html! {
        @if let Some((x, y)) = points.get(&own.seq).filter(|_| !name.is_empty()) {
            @let right = *x < 25.0;
            text.why x={ (x) "%" } dx=(if right { 18 } else { -18 }) y=(y + 4.0) text-anchor=(if right { "start" } else { "end" }) {
                (plain(&cut(name, LABEL / 2)))
            }
        }
        @if let Some(step) = first {
            @let (x, y) = points.get(&step.shown.entry.seq).copied().unwrap_or_default();
            @let entry = &step.shown.entry;
            text.why x={ (x) "%" } dx=(if x > 60.0 { 6 } else { -6 }) y=(y - 14.0) text-anchor=(if x > 60.0 { "end" } else { "start" }) {
                (plain(called(shown, &entry.actor))) ": " (plain(&cut(&entry.text, LABEL)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::curve;

    #[test]
    fn lines_leave_sideways_and_arrive_from_above_or_below() {
        assert_eq!(
            curve((10.0, 34.0), (50.0, 140.0)),
            "M112.0 34.0C500.0 34.0 500.0 34.0 500.0 87.4V123.0"
        );
        assert!(curve((10.0, 140.0), (50.0, 34.0)).ends_with("V51.0"));
        // In one lane the line goes over what lies between.
        assert!(curve((10.0, 34.0), (50.0, 34.0)).starts_with("M112.0 29.0C112.0 8.0 "));
    }
}
