//! Why: the causes of anything that has a name, as a path back to where it began, or what it led to.
//!
//! A cause is what the writer named. Nothing here is guessed.

mod effects;
mod panel;
mod path;
mod told;

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::json;
use understory_engine::garden::artifact::{about, history};
use understory_engine::garden::shown::{Cited, Step};
use understory_engine::garden::timeline::whole::{Whole, whole};
use understory_engine::garden::timeline::why::Why;
use understory_engine::kernel::artifact;
use understory_model::refs::parse_lines;
use understory_model::{Fault, Time};

use crate::text::{count, segment};
use crate::visit::Visit;
use crate::{Content, Place, Side, Width};

pub use path::short;
pub use told::{place_of, said_of, short_step as told_short, sign_of, thing_of};

/// Steps of a page; the tool knows up to a thousand.
const STEPS: usize = 200;

/// A step of the path: what the tool says of it, and all that its item says.
struct Moment<'w> {
    step: &'w Step,
    whole: Option<&'w Whole>,
    /// The words of it that the step before it named.
    cited: Vec<&'w str>,
}

/// The path of something, as a page shows it.
struct Told<'w> {
    why: &'w Why,
    moments: Vec<Moment<'w>>,
    /// Words that were named beside those of the path.
    others: Vec<&'w Cited>,
    /// What the line said before.
    before: Option<String>,
}

pub fn page(visit: &Visit<'_>, name: &str) -> Result<Content, Fault> {
    let why: Why = visit.ask("why", json!({"id": name}))?;
    let names: Vec<&str> = why
        .steps
        .iter()
        .take(STEPS)
        .map(|step| step.uuid.as_str())
        .collect();
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let wholes = engine.view(caller, |view| whole(view, &names))?;
    let told = told(&why, &wholes, before(visit, name, &why)?);
    let way = visit.query.get("way") == Some("effects");
    let effects = match why.steps.first() {
        Some(first) if way => Some(effects::read(visit, &first.uuid)?),
        _ => None,
    };
    let panel = panel::of(visit, name, &told)?;
    let place = format!("why/{}", segment(name));
    let views = [
        ("What led to it", None, !way),
        ("What it led to", Some("effects"), way),
    ];
    Ok(Content {
        place: at_home(&why),
        title: "Why".to_owned(),
        counts: counts(name, &told, effects.as_ref()),
        controls: html! {
            nav.views aria-label="Direction" {
                @for (title, to, current) in views {
                    a data-soft href=(visit.with(&place, &[("way", to), ("step", None)])) aria-current=[current.then_some("true")] { (title) }
                }
            }
            a.button href="#as-text" data-copy="as-text" { "Copy as text" }
        },
        is_one: true,
        main: html! {
            @match &effects {
                Some(effects) => (effects::list(visit, effects)),
                None => (path::whole(visit, name, &told)?),
            }
        },
        side: panel.map(|main| Side {
            width: Width::Reading,
            label: "The chosen step".to_owned(),
            main,
        }),
        json: match &effects {
            Some(effects) => json!(effects),
            None => json!(why),
        },
        ..Content::default()
    })
}

/// The page of the rail that the thing belongs to.
fn at_home(why: &Why) -> Place {
    let first = why.steps.first();
    let handle = first
        .and_then(|step| step.handle.as_deref())
        .unwrap_or_default();
    match first.map(|step| step.kind.as_str()) {
        _ if why.line.is_some() || !why.lines.is_empty() => Place::Artifacts,
        Some(kind) if kind.starts_with("Artifact") => Place::Artifacts,
        _ if handle.starts_with("TASK-") || handle.starts_with("PLAN-") => Place::Work,
        _ if handle.starts_with("th_") || handle.starts_with("msg_") => Place::Threads,
        _ => Place::Timeline,
    }
}

/// Puts the steps in the order of the path, without what only repeats another, and with the words that
/// each was named by.
fn told<'w>(why: &'w Why, wholes: &'w [Whole], before: Option<String>) -> Told<'w> {
    let by: HashMap<&str, &Whole> = wholes
        .iter()
        .map(|whole| (whole.entry.item.as_str(), whole))
        .collect();
    let named = why.steps.first().map_or(&[][..], |first| &first.references);
    let mut moments: Vec<Moment<'_>> = Vec::new();
    for (at, step) in why.steps.iter().enumerate().take(STEPS) {
        if at > 0 && repeats(step, why.steps.get(at + 1)) {
            continue;
        }
        let cited = named.iter().filter(|cited| cited.message_uuid == step.uuid);
        moments.push(Moment {
            step,
            whole: by.get(step.uuid.as_str()).copied(),
            cited: cited.map(|cited| cited.content.as_str()).collect(),
        });
    }
    let on_path = |cited: &&Cited| why.steps.iter().any(|step| step.uuid == cited.message_uuid);
    let others = named.iter().filter(|cited| !on_path(cited)).collect();
    Told {
        why,
        moments,
        others,
        before,
    }
}

/// A proposal is made by the call that proposes it, and both are in the log.
fn repeats(step: &Step, next: Option<&Step>) -> bool {
    let is_made = step.kind == "EntityDelta" && step.action.as_deref() == Some("created");
    is_made && next.is_some_and(|next| next.kind == "ToolCall" && next.handle == step.handle)
}

/// What the line that is asked about said before.
fn before(visit: &Visit<'_>, name: &str, why: &Why) -> Result<Option<String>, Fault> {
    let (Some(line), Some(_)) = (&why.line, parse_lines(name)) else {
        return Ok(None);
    };
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let before = engine.view(caller, |view| {
        let found = artifact::named(view, visit.project(), &line.artifact)?;
        let history = history::history(view, &found)?;
        let at = match parse_lines(name).and_then(|named| named.commit) {
            Some(commit) => {
                let hash = history::version_named(view, &found, &history, commit)?;
                history.commits.get(&hash).map(|wrote| wrote.seq)
            }
            None => found.head.as_ref().map(|head| head.seq),
        };
        let place = at.map(|at| (at, line.line - 1));
        match place {
            Some(place) => about::before(view, &found, &history, place, 1),
            None => Ok(Vec::new()),
        }
    })?;
    Ok(before.into_iter().next().map(|before| before.content))
}

/// `5 steps, 30 minutes, 3 people and agents`.
fn counts(name: &str, told: &Told<'_>, effects: Option<&effects::Effects>) -> String {
    if let Some(effects) = effects {
        let some = effects.steps.len().saturating_sub(1) as i64;
        return format!("{name} · led to {}", count(some, "thing", "things"));
    }
    let steps: Vec<&Step> = told.moments.iter().map(|moment| moment.step).collect();
    let (Some(last), Some(first)) = (steps.first(), steps.last()) else {
        return name.to_owned();
    };
    let who: std::collections::HashSet<&str> = steps.iter().map(|step| who_of(step)).collect();
    let mut said = vec![count(steps.len() as i64, "step", "steps")];
    if last.realized_at.0 - first.realized_at.0 >= 1_000_000 {
        said.push(span(first.realized_at, last.realized_at));
    }
    said.push(match who.len() {
        1 => "1 person or agent".to_owned(),
        many => format!("{many} people and agents"),
    });
    format!("{name} · {}", said.join(", "))
}

fn who_of(step: &Step) -> &str {
    step.sender.as_deref().unwrap_or(&step.actor)
}

/// How long something took, in the largest unit that fits.
fn span(from: Time, to: Time) -> String {
    let seconds = (to.0 - from.0).max(0) / 1_000_000;
    match seconds {
        0..60 => count(seconds, "second", "seconds"),
        60..3_600 => count(seconds / 60, "minute", "minutes"),
        3_600..86_400 => count(seconds / 3_600, "hour", "hours"),
        _ => count(seconds / 86_400, "day", "days"),
    }
}

/// The link to the moment in the timeline.
fn moment_link(visit: &Visit<'_>, moment: &Moment<'_>) -> Option<String> {
    let seq = moment.whole?.entry.seq;
    Some(visit.link(&format!("timeline?sel={seq}")))
}

/// Some words within a text, tinted.
fn tinted(text: &str, cited: &[&str]) -> Markup {
    let found = cited.iter().filter_map(|words| {
        // The cited words are cut where they are long, and may have other spaces.
        let begin = words.trim_end_matches('…').trim();
        let at = text.find(begin).filter(|_| !begin.is_empty())?;
        Some((at, at + begin.len()))
    });
    let mut places: Vec<(usize, usize)> = found.collect();
    places.sort_unstable();
    let (mut parts, mut at) = (Vec::new(), 0);
    for (start, end) in places {
        if start >= at {
            parts.push((&text[at..start], false));
            parts.push((&text[start..end], true));
            at = end;
        }
    }
    parts.push((&text[at..], false));
    html! {
        bdi { @for (part, is_cited) in parts {
            @if is_cited { span.tinted { (crate::text::told(part)) } } @else { (crate::text::told(part)) }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cited_words_are_tinted_where_they_stand() {
        let shown = tinted(
            "Use it: one writer, and we have forty.",
            &["we have forty."],
        );
        let shown = shown.into_string();
        assert!(shown.contains("Use it: one writer, and <span"), "{shown}");
        assert!(shown.contains(">we have forty.</span>"), "{shown}");
        let hostile = tinted("<b>x</b>", &["<b>"]).into_string();
        assert!(!hostile.contains("<b>"), "{hostile}");
        let none = tinted("é and so on", &["not there", ""]).into_string();
        assert!(!none.contains("span"), "{none}");
    }

    #[test]
    fn spans_of_time_are_told_in_one_unit() {
        let told = |seconds: i64| span(Time(0), Time(seconds * 1_000_000));
        assert_eq!(told(30), "30 seconds");
        assert_eq!(told(1_830), "30 minutes");
        assert_eq!(told(100_000), "1 day");
    }
}
