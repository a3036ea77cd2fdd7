//! What something led to, step by step.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::garden::shown::Step;
use understory_engine::garden::timeline::trace::Steps;
use understory_model::Fault;

use super::told::short_step;
use crate::dates::when;
use crate::text::segment;
use crate::visit::Visit;

pub type Effects = Steps;

/// Steps of a page.
const STEPS: usize = 200;

pub fn read(visit: &Visit<'_>, item: &str) -> Result<Effects, Fault> {
    visit.ask(
        "garden_trace",
        json!({"item": item, "direction": "effects"}),
    )
}

/// All that it led to, each beneath what led to it.
pub fn list(visit: &Visit<'_>, effects: &Effects) -> Markup {
    let steps: Vec<&Step> = shown(effects);
    html! {
        @if steps.is_empty() {
            p.empty { b { "It led to nothing yet." } " What names it as its cause comes here." }
        }
        (rows(visit, &steps, STEPS))
        @if effects.truncated || steps.len() > STEPS { p.empty { "There are more than are shown." } }
    }
}

/// The effects without the thing itself, and without what only repeats another.
pub fn shown(effects: &Effects) -> Vec<&Step> {
    let all = &effects.steps;
    let made = |step: &Step| {
        let is_made = step.kind == "EntityDelta" && step.action.as_deref() == Some("created");
        let by_call = |other: &Step| other.kind == "ToolCall" && other.handle == step.handle;
        is_made && all.iter().any(by_call)
    };
    let told = |step: &Step| step.kind != "SystemEvent" && !made(step);
    all.iter().skip(1).filter(|step| told(step)).collect()
}

pub fn rows(visit: &Visit<'_>, steps: &[&Step], most: usize) -> Markup {
    html! {
        ul.rows.effects {
            @for step in steps.iter().take(most) {
                li class={ "row deep-" (step.depth.unwrap_or(1).clamp(1, 6)) } {
                    a.title.what href=(visit.link(&format!("why/{}", segment(&step.uuid)))) { (short_step(step)) }
                    (when(visit, step.realized_at))
                }
            }
        }
    }
}
