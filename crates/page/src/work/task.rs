//! One task: what it says, what stands around it, and what happened to it.

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::graph::context::{Context, Dependency};
use understory_engine::graph::history::{Event, History};
use understory_engine::kernel::content::node::CLAIMED_BY;
use understory_model::Fault;

use crate::marks::{Mark, mark};
use crate::shell::hidden;
use crate::text::{age, linked, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

pub fn page(visit: &Visit<'_>, handle: &str) -> Result<Content, Fault> {
    let found: Context = visit.ask("graph_context", json!({"node_id": handle, "depth": 1}))?;
    let node = &found.node;
    let past: History = visit.ask("graph_history", json!({"node_id": handle, "limit": 50}))?;
    let claimed = node.properties.get(CLAIMED_BY).and_then(Value::as_str);
    let state = match (node.resolved, node.dropped, claimed) {
        (_, true, _) => Mark::Dropped,
        (true, false, _) => Mark::Done,
        (false, false, Some(_)) => Mark::Claimed,
        (false, false, None) if found.depends_on.iter().any(|one| !one.satisfied) => Mark::Waits,
        (false, false, None) => Mark::Ready,
    };
    Ok(Content {
        place: Place::Work,
        title: node.summary.clone(),
        counts: node.id.clone(),
        main: html! {
            p.meta {
                (mark(state)) " "
                @for above in &found.ancestors {
                    a href=(visit.link(&format!("work/{}", segment(&above.id)))) { (stored(&above.summary)) } " › "
                }
                span.handle { (node.id) } " · made by " (stored(&node.created_by)) " " (age(visit, node.created_at)) " ago"
                @if let Some(by) = claimed { " · claimed by " (stored(by)) }
            }
            (acts(visit, &found, claimed))
            p { a.meta href=(visit.link(&format!("why/{}", segment(&node.id)))) { "Why is this here?" } }
            @if let Some(Value::String(text)) = &node.state { div.words { (linked(visit, text)) } }
            (around(visit, "Must come first", &found.depends_on))
            (around(visit, "Waits for this", &found.depended_by))
            @if !found.children.children.is_empty() {
                section {
                    h2 { "Parts" }
                    ul.done {
                        @for child in &found.children.children {
                            li.row { (mark(if child.resolved { Mark::Done } else { Mark::Ready }))
                                a.title href=(visit.link(&format!("work/{}", segment(&child.id)))) { (stored(&child.summary)) }
                                span.handle { (child.id) } }
                        }
                    }
                }
            }
            @if !node.evidence.is_empty() {
                section { h2 { "Evidence" } ul { @for piece in &node.evidence { li { (stored(&piece.kind)) ": " (stored(&piece.reference)) } } } }
            }
            section { h2 { "History" } ol.history { @for event in &past.events { (happened(visit, event)) } } }
        },
        json: json!({"context": found, "history": past}),
        ..Content::default()
    })
}

fn around(visit: &Visit<'_>, title: &str, all: &[Dependency]) -> Markup {
    html! {
        @if !all.is_empty() {
            section {
                h2 { (title) }
                ul.done {
                    @for one in all {
                        li.row {
                            (mark(if one.node.resolved { Mark::Done } else { Mark::Waits }))
                            a.title href=(visit.link(&format!("work/{}", segment(&one.node.id)))) { (stored(&one.node.summary)) }
                            span.handle { (one.node.id) }
                        }
                    }
                }
            }
        }
    }
}

fn acts(visit: &Visit<'_>, found: &Context, claimed: Option<&str>) -> Markup {
    let node = &found.node;
    let place = format!("work/{}", segment(&node.id));
    let form = |act: &str, label: &str, main: bool| {
        html! {
            form.act method="post" action=(visit.link(&format!("do/{act}"))) data-draft={ (act) "-" (node.id) } {
                (hidden(visit, &place))
                input type="hidden" name="node" value=(node.id);
                button.main[main] { (label) }
            }
        }
    };
    html! {
        div.acts {
            @if node.resolved { (form("reopen", "Open again", false)) }
            @else {
                (form("resolve", "Done", true))
                @if claimed == Some(visit.person()) { (form("release", "Give back", false)) }
                @else if claimed.is_none() { (form("claim", "Take it", false)) }
            }
        }
    }
}

fn happened(visit: &Visit<'_>, event: &Event) -> Markup {
    // Who claimed it since when is told by the act itself.
    let named = |field: &&str| !field.starts_with("_");
    let fields = event.changes.iter().map(|change| change.field.as_str());
    let fields = fields.map(|field| field.strip_prefix("properties.").unwrap_or(field));
    let fields: Vec<&str> = fields.filter(named).take(5).collect();
    html! {
        li {
            b { (stored(&event.agent)) } " " (event.action)
            @if event.action == "updated" { @for field in fields { span.meta { " · " (stored(field)) } } }
            @if let Some(reason) = &event.reason { " because " (stored(reason)) }
            " " (age(visit, event.timestamp)) " ago"
        }
    }
}
