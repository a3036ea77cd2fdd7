//! The control that picks a project, for the head of any page whose tools answer for one project at a time.

use maud::{Markup, html};
use understory_engine::graph::open::{self, Projects};
use understory_engine::graph::shape::Listed;
use understory_model::Fault;

use crate::text::{number, plain, segment, stored};
use crate::visit::{PROJECT, Visit};

/// Projects of the list; the last changed, the others by their address.
const SHOWN: usize = 100;

/// A button with what the page's project is for, which opens the list of projects. `place` is the page
/// that a choice leads to, such as `work`. Nothing where there is one project only.
pub fn projects(visit: &Visit<'_>, place: &str) -> Result<Markup, Fault> {
    // Not by the tool: it would open the project of the address.
    let engine = visit.context.engine;
    let Projects { mut projects } = engine.view(visit.context.caller, open::list)?;
    if projects.len() < 2 && visit.project().is_none() {
        return Ok(html! {});
    }
    projects.sort_by_key(|one| (std::cmp::Reverse(one.updated_at), one.id.clone()));
    let own = visit.project().unwrap_or(&visit.context.caller.project);
    let current = projects.iter().find(|one| one.id == own);
    let shown = current.map_or(own, name);
    Ok(html! {
        details.pop id="projects" {
            summary.button title="Which project is shown" { span.cut { (stored(shown)) } }
            ul {
                @for one in projects.iter().take(SHOWN) {
                    li {
                        a href=(address(visit, place, &one.id)) aria-current=[(one.id == own).then_some("true")] {
                            span.cut { (stored(name(one))) }
                            span.meta { (plain(&one.id)) " · " (number(one.unresolved)) " open" }
                        }
                    }
                }
                @if projects.len() > SHOWN {
                    li.meta { "and " (number((projects.len() - SHOWN) as i64)) " that were not changed lately" }
                }
            }
        }
    })
}

/// What a project is called: its goal, else its name.
fn name(project: &Listed) -> &str {
    match project.summary.trim() {
        "" => &project.id,
        summary => summary,
    }
}

fn address(visit: &Visit<'_>, place: &str, project: &str) -> String {
    let base = segment(visit.workspace);
    format!("/{base}/{place}?{PROJECT}={}", segment(project))
}
