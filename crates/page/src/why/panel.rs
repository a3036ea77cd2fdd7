//! The panel of a step: all that was said there, and what it led to.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::garden::timeline::trace::Steps;
use understory_model::Fault;

use super::told::place_of;
use super::{Moment, Told, effects, tinted, who_of};
use crate::dates::when;
use crate::marks::who;
use crate::text::{number, segment, stored};
use crate::visit::Visit;

/// Effects in the panel.
const EFFECTS: usize = 12;
/// Signs of what was said.
const SAID: usize = 4_000;

/// Of the step that was chosen, else of the first whose words were cited, else of the one that it began
/// with.
pub fn of(visit: &Visit<'_>, name: &str, told: &Told<'_>) -> Result<Option<Markup>, Fault> {
    let chosen = visit.query.get("step");
    let moments = &told.moments;
    let is_chosen = |moment: &&Moment<'_>| Some(moment.step.uuid.as_str()) == chosen;
    let said = |moment: &&Moment<'_>| moment.whole.is_some_and(|whole| whole.words.is_some());
    let found = moments.iter().find(is_chosen);
    let found = found.or_else(|| moments.iter().find(|moment| !moment.cited.is_empty()));
    let found = found.or_else(|| moments.iter().skip(1).find(said));
    let Some(moment) = found.or_else(|| moments.last().filter(|_| moments.len() > 1)) else {
        return Ok(None);
    };
    let asked = json!({"item": moment.step.uuid, "direction": "effects", "max_depth": 3});
    let led: Steps = visit.ask("garden_trace", asked)?;
    Ok(Some(panel(visit, name, moment, &led, chosen.is_some())))
}

fn panel(
    visit: &Visit<'_>,
    name: &str,
    moment: &Moment<'_>,
    led: &Steps,
    is_chosen: bool,
) -> Markup {
    let step = moment.step;
    let author = who_of(step);
    let whole = moment.whole;
    let words = whole.and_then(|whole| whole.words.as_deref());
    let text = words.unwrap_or(&step.text);
    let shown: String = text.chars().take(SAID).collect();
    let effects = effects::shown(led);
    html! {
        div.bar.beside[!is_chosen] {
            p.meta { @match whole.and_then(|whole| whole.message.as_ref()) {
                Some((thread, n)) => { "Message " (n) " in " span.handle { (thread) } },
                None => { (step.action.as_deref().unwrap_or(&step.kind).replace('_', " ")) " " @if let Some(handle) = &step.handle { span.handle { (stored(handle)) } } },
            } }
            @if is_chosen {
                a.button.plain data-close data-soft href=(visit.with(&format!("why/{}", segment(name)), &[("step", None)])) aria-label="Close" { "×" }
            }
        }
        div.author tabindex="-1" data-focus[is_chosen] { (who(author, author == visit.person())) p { b { (stored(author)) } " " (when(visit, step.realized_at)) } }
        @if whole.is_some_and(|whole| whole.undone) { p.none { "Taken back by who said it." } }
        @else if !text.is_empty() {
            p.said dir="auto" { (tinted(&shown, &moment.cited)) @if shown.len() < text.len() { " …" } }
        }
        div.acts {
            @if let Some(whole) = whole {
                a.button href=(visit.link(&place_of(&whole.entry))) { @if whole.message.is_some() { "Open in thread" } @else { "Open" } }
                a.button.plain href=(visit.link(&format!("timeline?sel={}", whole.entry.seq))) { "In the timeline" }
            }
        }
        section {
            h3 { "What it led to" }
            @if effects.is_empty() { p.meta { "Nothing that names it." } }
            (effects::rows(visit, &effects, EFFECTS))
            @if effects.len() > EFFECTS { p.meta { "and " (number((effects.len() - EFFECTS) as i64)) " more" } }
        }
        section { p.meta { "A cause is what the writer named. Nothing here is guessed." } }
    }
}
