//! What unblocks the most: the tasks that could be worked on, that for which most others wait first.

use maud::{Markup, html};
use understory_engine::graph::board::Task;

use super::standing::{Asking, marked, who_has};
use crate::text::{number, stored};
use crate::visit::Visit;

/// Tasks of the list.
pub const ROWS: usize = 50;
/// The length of a bar for the first of them.
const BAR: f64 = 204.0;

pub fn most(visit: &Visit<'_>, tasks: &[Task], asking: &Asking, focus: Option<&str>) -> Markup {
    let longest = tasks
        .iter()
        .map(|task| task.unblocks)
        .max()
        .unwrap_or(1)
        .max(1);
    html! {
        div.most-head { h2 { "Unblocks most" } span.meta { "tasks behind it" } }
        @if tasks.is_empty() { p.empty { "Nothing waits for anything." } }
        ul.entries.most {
            @for task in tasks {
                @let chosen = focus == Some(task.id.as_str());
                li.entry.is-chosen[chosen] id={ "most-" (task.id) } {
                    (marked(task, asking))
                    div.what {
                        a.title.clamp href=(visit.with("work", &[("around", Some(&task.id)), ("peek", None)])) data-soft
                            aria-current=[chosen.then_some("true")] { (stored(&task.summary)) }
                        p.meta { span.handle { (task.id) } " · " (who_has(visit, task, asking)) }
                        svg.bar width=(BAR) height="4" aria-hidden="true" {
                            rect width=((task.unblocks as f64 / longest as f64 * BAR).max(4.0).round()) height="4" rx="2" {}
                        }
                    }
                    span.count { (number(task.unblocks)) }
                }
            }
        }
    }
}
