//! Timeline: what happened, the newest first, by whom and to what.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::kernel::log::{self, Entry};
use understory_engine::system::audit::may_read;
use understory_model::{Fault, Seq};

use crate::marks::who;
use crate::text::{segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

/// Entries of a page.
const PAGE: i64 = 100;

pub fn page(visit: &Visit<'_>) -> Result<Content, Fault> {
    let caller = visit.context.caller;
    let (of, by) = (visit.query.get("of"), visit.query.get("by"));
    let before = visit.query.get("before").and_then(|n| n.parse().ok());
    let mut entries = visit.context.engine.view(caller, |view| {
        let entity = match of {
            Some(name) => Some(log::find(view, name)?.id),
            None => None,
        };
        let wanted = log::Wanted {
            entity,
            actor: by.map(str::to_owned),
            without_audit: !may_read(caller.role),
            before: before.map(Seq),
            most: PAGE + 1,
            ..log::Wanted::default()
        };
        log::newest(view, &wanted)
    })?;
    let more = entries.len() as i64 > PAGE;
    entries.truncate(usize::try_from(PAGE).unwrap_or(0));
    let filter = [("of", of), ("by", by)];
    let filter: Vec<(&str, &str)> = filter
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
    let mut older: String = filter
        .iter()
        .map(|(name, value)| format!("{name}={}&", segment(value)))
        .collect();
    if let Some(last) = entries.last() {
        older.push_str(&format!("before={}", last.seq));
    }
    Ok(Content {
        place: Place::Timeline,
        title: "Timeline".to_owned(),
        counts: match filter.as_slice() {
            [] => "newest first".to_owned(),
            some => some
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect::<Vec<_>>()
                .join(", "),
        },
        main: html! {
            form.filter method="get" role="search" {
                label { span.label { "Of" } input name="of" value=[of] placeholder="TASK-001, th_001, a label"; }
                label { span.label { "By" } input name="by" value=[by] placeholder="an agent or person"; }
                button { "Filter" }
                @if !filter.is_empty() { a href=(visit.link("timeline")) { "Take the filter off" } }
            }
            @if entries.is_empty() { p.empty { b { "No item matches." } } }
            ol.log { @for entry in &entries { (line(visit, entry)) } }
            @if more { p { a.more href=(visit.link(&format!("timeline?{older}"))) { "Show 100 more" } } }
        },
        json: json!({"entries": entries}),
        ..Content::default()
    })
}

fn line(visit: &Visit<'_>, entry: &Entry) -> Markup {
    let did = entry.action.as_deref().unwrap_or(&entry.kind);
    let target = entry.name.as_deref().or(entry.handle.as_deref());
    html! {
        li id={ "item-" (entry.seq) } {
            span.seq { "#" (entry.seq) }
            time datetime=(entry.at) title=(entry.at) { (entry.at.get(11..16).unwrap_or_default()) }
            (who(&entry.actor, entry.actor == visit.person()))
            span.what {
                b { (stored(&entry.actor)) } " " (did.replace('_', " ")) " "
                @if let (Some(target), Some(handle)) = (target, entry.handle.as_deref()) {
                    // A message has no page of its own.
                    @if handle.starts_with("msg_") { span.handle { (stored(target)) } " " }
                    @else { a.handle href=(visit.link(&format!("go/{}", segment(handle)))) { (stored(target)) } " " }
                }
                (text(&entry.text))
                @if let Some(why) = &entry.reasoning { span.meta { " because " (stored(why)) } }
            }
        }
    }
}

fn text(text: &str) -> Markup {
    html! { @if !text.is_empty() { (stored(text)) } }
}
