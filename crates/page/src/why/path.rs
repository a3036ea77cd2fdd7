//! The path itself: on its own page, in a panel, and as a paragraph.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::garden::timeline::whole::whole as items;
use understory_engine::garden::timeline::why::Why;
use understory_model::Fault;

use super::told::{place_of, said_of, short_step, sign_of, thing_of, verb};
use super::{Moment, Told, moment_link, tinted, who_of};
use crate::artifacts::change;
use crate::dates::{spoken, when};
use crate::marks::{Mark, mark};
use crate::text::{count, plain, segment, stored};
use crate::visit::Visit;

/// Steps in the panel of a line, and lines of several that a path begins with.
const SHORT: usize = 8;
const LINES: usize = 8;
/// Signs of what was said that are shown before a fold.
const SAID: usize = 1_200;
/// Items that happened just before something without a cause.
const JUST_BEFORE: i64 = 4;

/// The path as the panel of a line has it.
pub fn short(visit: &Visit<'_>, why: &Why) -> Markup {
    let named = why.steps.first().map_or(&[][..], |first| &first.references);
    let mut steps: Vec<_> = why.steps.iter().collect();
    let all = why.steps.as_slice();
    let mut at = 0;
    steps.retain(|step| {
        at += 1;
        at == 1 || !super::repeats(step, all.get(at))
    });
    html! {
        ol.path.short {
            @for step in steps.iter().take(SHORT) {
                @let words: Vec<&str> = named.iter().filter(|cited| cited.message_uuid == step.uuid).map(|cited| cited.content.as_str()).collect();
                li {
                    (mark(Mark::Conversation))
                    div {
                        p { b { (stored(who_of(step))) } " " (done_short(step.action.as_deref())) ", " (when(visit, step.realized_at))
                            @if let Some(commit) = &step.commit { " " span.handle { (commit.get(..7).unwrap_or(commit)) } } }
                        @if words.is_empty() {
                            @if step.kind != "ArtifactDelta" && !step.text.is_empty() { p dir="auto" { (short_words(&step.text)) } }
                        } @else { p dir="auto" { (tinted(&words.join(" "), &[&words.join(" ")])) } }
                    }
                }
            }
        }
        @if steps.len() > SHORT { p.meta { "and " (steps.len() - SHORT) " more steps" } }
        @if steps.len() == 1 { p.meta { "No cause was named." } }
    }
}

fn done_short(action: Option<&str>) -> String {
    match action {
        Some("committed") => "committed it".to_owned(),
        Some("accepted") => "accepted it".to_owned(),
        Some("proposed") => "proposed it".to_owned(),
        Some("posted" | "said") => "said".to_owned(),
        Some(other) => other.replace('_', " "),
        None => "wrote".to_owned(),
    }
}

fn short_words(text: &str) -> Markup {
    let words = text
        .strip_prefix("message ")
        .and_then(|rest| rest.split_once(": "));
    html! { (stored(words.map_or(text, |(_, body)| body))) }
}

/// The whole path, from now back to where it began.
pub fn whole(visit: &Visit<'_>, name: &str, told: &Told<'_>) -> Result<Markup, Fault> {
    let (why, last) = (told.why, told.moments.len());
    let alone = last <= 1;
    let just_before = if alone {
        just_before(visit, told)?
    } else {
        html! {}
    };
    Ok(html! {
        ol.path aria-label={ "Why " (plain(name)) } {
            @if why.line.is_some() || !why.lines.is_empty() { (now(visit, why)) }
            @for (at, moment) in told.moments.iter().enumerate() {
                @let begins = at + 1 == last && !alone && !why.cycle && !why.truncated;
                (step(visit, name, told, (moment, at, begins)))
            }
        }
        @if why.cycle { p.empty { "The causes lead back to a step that stands here already." } }
        @else if why.truncated || last < why.steps.len().min(super::STEPS) && why.steps.len() > super::STEPS {
            p.empty { "There are more steps than are shown." }
        }
        @if alone { (just_before) }
        details id="as-text" { summary { "As text" } p dir="auto" { (paragraph(visit, name, told)) } }
    })
}

/// What is asked about, as it stands.
fn now(visit: &Visit<'_>, why: &Why) -> Markup {
    let lines = why.line.iter().chain(&why.lines);
    html! {
        li {
            span.at { "now" } span.dot { (mark(Mark::Artifact)) }
            div.what {
                @if let Some(line) = &why.line {
                    p.meta { "Line " (line.line) " of "
                        a.handle href=(visit.link(&format!("artifacts/{}", segment(&format!("{}:{}", line.label, line.line))))) { (stored(&line.label)) } " says" }
                } @else if let Some(line) = why.lines.first() {
                    p.meta { (why.lines.len()) " lines of " a.handle href=(visit.link(&format!("artifacts/{}", segment(&line.label)))) { (stored(&line.label)) } " say" }
                }
                @for line in lines.take(LINES) { p.cited dir="auto" { (stored(&line.content)) } }
            }
        }
    }
}

fn step(
    visit: &Visit<'_>,
    name: &str,
    told: &Told<'_>,
    (moment, at, begins): (&Moment<'_>, usize, bool),
) -> Markup {
    let first = at == 0 && told.why.line.is_none() && told.why.lines.is_empty();
    let chosen = visit.query.get("step") == Some(moment.step.uuid.as_str());
    let sign = moment
        .whole
        .map_or(Mark::Conversation, |whole| sign_of(&whole.entry));
    let pick = visit.with(
        &format!("why/{}", segment(name)),
        &[("step", Some(&moment.step.uuid))],
    );
    html! {
        li id=(moment.step.uuid) data-row .begins[begins] .is-chosen[chosen] {
            @match moment_link(visit, moment) {
                Some(link) => a.at href=(link) title="Show it in the timeline" { (when(visit, moment.step.realized_at)) },
                None => span.at { (when(visit, moment.step.realized_at)) },
            }
            a.dot data-soft data-peek href=(pick) aria-label="Show this step" { (mark(sign)) }
            div.what {
                p.meta { @if !first { b.because { "because " } } (head(visit, moment)) }
                (words(told, moment, at, begins))
                @if begins { p.meta { "It began here. Nothing is named before it." } }
                @if at == 0 && !told.others.is_empty() { (others(visit, told)) }
            }
        }
    }
}

/// Who did what to which thing.
fn head(visit: &Visit<'_>, moment: &Moment<'_>) -> Markup {
    let who = who_of(moment.step);
    let Some(whole) = moment.whole else {
        return short_step(moment.step);
    };
    let entry = &whole.entry;
    html! {
        @if who == visit.person() { "you" } @else { (stored(who)) }
        " " (verb(whole)) " "
        @if let Some(commit) = &entry.commit { a.handle href=(visit.link(&place_of(entry))) { (commit.get(..7).unwrap_or(commit)) } }
        @else if let Some(thing) = thing_of(entry) { a.handle href=(visit.link(&place_of(entry))) { (stored(&thing)) } }
        @if let Some((_, number)) = &whole.message { ", message " (number) }
    }
}

/// What was said there, with what was cited of it.
fn words(told: &Told<'_>, moment: &Moment<'_>, at: usize, begins: bool) -> Markup {
    let whole = moment.whole;
    let spoken = whole.and_then(|whole| whole.words.as_deref());
    let line = told.why.line.as_ref().filter(|_| at == 0);
    let reasoning = moment
        .step
        .reasoning
        .as_deref()
        .filter(|why| !why.trim().is_empty());
    html! {
        @if whole.is_some_and(|whole| whole.undone) { p.none { "Taken back by who said it." } }
        @else if let Some(line) = line {
            @let old: Vec<&str> = told.before.iter().map(String::as_str).collect();
            (change(&old, &[line.content.as_str()]))
            @if let Some(why) = reasoning { p dir="auto" { "“" (stored(why)) "”" } }
        } @else if let Some(spoken) = spoken {
            p.cited dir="auto" {
                @let cut: String = spoken.chars().take(SAID).collect();
                // What it all began with was named as a whole, unless some of its words were.
                @let all = [cut.as_str()];
                @let named = if moment.cited.is_empty() && begins { &all[..] } else { &moment.cited };
                (tinted(&cut, named))
                @if cut.len() < spoken.len() { span.meta { " … " (count(spoken.chars().count() as i64, "character", "characters")) " in all" } }
            }
            @if !moment.cited.is_empty() { p.meta { "These words were named as the cause." } }
        } @else {
            @let text = whole.map_or(moment.step.text.as_str(), |whole| said_of(&whole.entry));
            @if !text.is_empty() { p.cited dir="auto" { (stored(text)) } }
            @if let Some(why) = reasoning.filter(|why| !text.contains(why)) { p dir="auto" { "“" (stored(why)) "”" } }
        }
    }
}

/// What else was named.
fn others(visit: &Visit<'_>, told: &Told<'_>) -> Markup {
    html! {
        details.others id="others" {
            summary { "and " (count(told.others.len() as i64, "more cause", "more causes")) }
            ul { @for cited in &told.others {
                li { a href=(visit.link(&format!("why/{}", segment(&cited.message_uuid)))) { span.tinted { (stored(&cited.content)) } } }
            } }
        }
    }
}

/// What somebody did just before writing something without a cause.
fn just_before(visit: &Visit<'_>, told: &Told<'_>) -> Result<Markup, Fault> {
    let Some(moment) = told.moments.first() else {
        return Ok(html! {});
    };
    let step = moment.step;
    let asked = json!({"actor": step.actor, "until": step.realized_at.to_string(), "limit": JUST_BEFORE + 1});
    let found: serde_json::Value = visit.ask("garden_timeline", asked)?;
    let names = found["items"].as_array().into_iter().flatten();
    let names: Vec<&str> = names.filter_map(|item| item["uuid"].as_str()).collect();
    let names: Vec<&str> = names
        .into_iter()
        .filter(|name| *name != step.uuid)
        .collect();
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let earlier = engine.view(caller, |view| items(view, &names))?;
    let thing = moment.whole.and_then(|whole| thing_of(&whole.entry));
    Ok(html! {
        div.empty {
            p { b { "No cause was named." } " " (stored(who_of(step))) " wrote it " (when(visit, step.realized_at))
                @if let Some(thing) = &thing { " in " span.handle { (stored(thing)) } } "."
                @if !earlier.is_empty() { " What happened just before:" } }
            ul.rows { @for one in earlier.iter().take(JUST_BEFORE as usize) {
                li.row { (mark(sign_of(&one.entry)))
                    a.what href=(visit.link(&place_of(&one.entry))) {
                        (stored(&one.entry.actor)) " " (verb(one)) " "
                        @if let Some(thing) = thing_of(&one.entry) { (stored(&thing)) " " }
                        (stored_or_nothing(said_of(&one.entry)))
                    }
                }
            } }
        }
    })
}

fn stored_or_nothing(text: &str) -> Markup {
    html! { @if !text.trim().is_empty() { (stored(text)) } }
}

/// The path as it is read aloud.
fn paragraph(visit: &Visit<'_>, name: &str, told: &Told<'_>) -> String {
    let mut said = match &told.why.line {
        Some(line) => format!(
            "Line {} of {} says “{}”",
            line.line, line.label, line.content
        ),
        None => name.to_owned(),
    };
    for (at, moment) in told.moments.iter().enumerate() {
        let whole = moment.whole;
        let spoken_words = whole.and_then(|whole| whole.words.as_deref());
        let text = match (moment.cited.is_empty(), spoken_words, whole) {
            (false, ..) => moment.cited.join(" "),
            (_, Some(words), _) => words.to_owned(),
            (_, None, Some(whole)) => said_of(&whole.entry).to_owned(),
            (_, None, None) => moment.step.text.clone(),
        };
        let joined = if at == 0 && told.why.line.is_none() {
            ":"
        } else {
            ", because"
        };
        let did = whole.map_or("wrote", verb);
        let thing = whole.and_then(|whole| thing_of(&whole.entry));
        let thing = thing.map(|thing| format!(" {thing}")).unwrap_or_default();
        let when = spoken(visit, moment.step.realized_at);
        let who = who_of(moment.step);
        said.push_str(&format!("{joined} {who} {did}{thing} ({when})"));
        let is_the_line = at == 0 && told.why.line.is_some();
        if !text.is_empty() && !is_the_line {
            said.push_str(&format!(": “{}”", text.trim()));
        }
    }
    said.push('.');
    match told.moments.len() {
        0 | 1 => said.push_str(" No cause was named."),
        _ => said.push_str(" Nothing is named before it."),
    }
    plain(&said)
}
