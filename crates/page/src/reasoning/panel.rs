//! What stands beside the branches: a thought with what it says, what it is joined to and how it came about; or the
//! branch as a picture, its best next step, and the notes that only it has.

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::reasoning::diff::Diff;
use understory_engine::reasoning::graph_query::Slice;
use understory_engine::reasoning::notes::Page;
use understory_engine::reasoning::past::{self, Past};
use understory_engine::reasoning::place::Place;
use understory_engine::reasoning::shape::{Edge, Entry, Node};
use understory_engine::reasoning::think_next::Next;
use understory_model::{Code, Fault};

use super::{Shown, peek, picture, slice, thought, title};
use crate::changed::both;
use crate::marks::mark;
use crate::text::{age, linked, plain, stored};
use crate::visit::Visit;

/// Versions of a thought, and notes, that are shown.
const PAST: usize = 20;
const NOTES: i64 = 10;
/// Nodes of a picture that has room beside the branches.
const BESIDE: usize = 24;

/// The panel, what of it stands beneath the page where there is no room beside it, and what it shows as data.
pub struct Panel {
    pub main: Markup,
    pub beneath: Markup,
    pub json: Value,
}

pub fn side(visit: &Visit<'_>, shown: &Shown) -> Result<Panel, Fault> {
    match visit.query.get("peek") {
        Some(id) => one(visit, shown, id),
        None => branch(visit, shown),
    }
}

fn one(visit: &Visit<'_>, shown: &Shown, id: &str) -> Result<Panel, Fault> {
    let on = visit.query.get("on").unwrap_or(&shown.focus().branch);
    let known = [Some(&shown.left), shown.right.as_ref()];
    let known = known.into_iter().flatten().find(|side| side.branch == on);
    let other;
    let side = match known {
        Some(side) => side,
        None => {
            other = slice(visit, on)?;
            &other
        }
    };
    let place = Place {
        branch: side.branch.clone(),
        doc: side.doc.clone(),
    };
    let context = &visit.context;
    let look = |view: &mut understory_engine::View<'_, '_>| past::of_node(view, place, id, PAST);
    let past = context.engine.view(context.caller, look)?;
    let Some(node) = past.first().map(|last| &last.node) else {
        return Err(Fault::new(
            Code::NotFound,
            "this branch does not have that thought",
        ));
    };
    let edges: Vec<&Edge> = side
        .edges
        .iter()
        .filter(|edge| edge.from == id || edge.to == id)
        .collect();
    let told = json!({"node": node, "edges": edges, "past": past, "branch": side.branch});
    let close = visit.with("reasoning", &[("peek", None), ("on", None)]);
    let main = html! {
        div.bar {
            h2 { (mark(thought(node))) " " (stored(title(node))) }
            a.button.plain data-soft data-close href=(close) { "Close" }
        }
        p.meta {
            (stored(node.kind.as_deref().unwrap_or("thought")))
            @if let Some(status) = &node.status { ", " (stored(status)) }
            " · on " (stored(&side.branch)) " · " span.handle { (stored(&node.id)) }
            @if node.deleted { " · " span.red { "taken away" } }
            @for tag in node.tags.iter().flatten() { " " span.chip { (stored(tag)) } }
        }
        @if let Some(text) = &node.text { div.words { (linked(visit, text)) } }
        (joined(visit, side, id, &edges))
        (meta(node))
        section { h3 { "History" } ol.rec-past { @for (at, version) in past.iter().enumerate() { (written(visit, version, past.get(at + 1))) } } }
    };
    Ok(Panel {
        main,
        beneath: html! {},
        json: told,
    })
}

/// What a thought is joined to, from either end.
fn joined(visit: &Visit<'_>, side: &Slice, id: &str, edges: &[&Edge]) -> Markup {
    let end = |other: &str| {
        let node = side.nodes.iter().find(|node| node.id == other);
        html! {
            @if let Some(node) = node { (mark(thought(node))) " " }
            a data-soft href=(peek(visit, &side.branch, other)) { (stored(node.map_or(other, title))) }
        }
    };
    html! {
        @if !edges.is_empty() {
            section {
                h3 { "Joined to" }
                ul {
                    @for edge in edges {
                        li {
                            @if edge.from == id { span.meta { (stored(&edge.rel)) " " } (end(&edge.to)) }
                            @else { (end(&edge.from)) span.meta { " " (stored(&edge.rel)) " it" } }
                        }
                    }
                }
            }
        }
    }
}

fn meta(node: &Node) -> Markup {
    html! {
        @if let Some(meta) = node.meta.as_ref().filter(|meta| !meta.is_empty()) {
            dl.facts {
                @for (name, value) in meta {
                    dt { (stored(name)) }
                    dd { (stored(&match value { Value::String(text) => text.clone(), other => other.to_string() })) }
                }
            }
        }
    }
}

/// A version against the one before it.
fn written(visit: &Visit<'_>, version: &Past, before: Option<&Past>) -> Markup {
    let texts = |node: &Node| {
        let texts = [&node.title, &node.status, &node.text];
        texts.map(|text| text.clone().unwrap_or_default())
    };
    let old = before.map(|before| &before.node);
    let (was, is) = (old.map(texts).unwrap_or_default(), texts(&version.node));
    let fields = ["title", "status", "text"]
        .into_iter()
        .zip(was.iter().zip(&is));
    html! {
        li {
            time.meta datetime=(version.at) data-clock { (age(visit, version.at)) }
            div {
                b { (stored(&version.agent)) }
                @if version.node.deleted { " took it away" } @else if old.is_none() { " wrote it" } @else { " changed it" }
                " on " (stored(&version.branch))
                @if let Some(from) = &version.merged_from { ", merged from " (stored(from)) }
                @if old.is_some() && !version.node.deleted {
                    @for (name, (was, is)) in fields {
                        @if was != is { p.word-diff dir="auto" { span.meta { (name) " " } (both(was, is, true)) } }
                    }
                }
            }
        }
    }
}

fn branch(visit: &Visit<'_>, shown: &Shown) -> Result<Panel, Fault> {
    let focus = shown.focus();
    let asked =
        json!({"workspace": visit.workspace, "branch": focus.branch, "graph_doc": focus.doc});
    let next: Option<Next> = match focus.nodes.is_empty() {
        true => None,
        false => Some(visit.ask("branchmind_think_next", asked)?),
    };
    let notes = notes(visit, shown)?;
    let many = focus.nodes.len();
    let drawn = visit.query.get("view") == Some("picture");
    let beneath = html! {
        @if let Some(next) = &next {
            section {
                h3 { "Best next step" }
                p { @if shown.between().next().is_some() { "Settle the conflict: " (stored(&focus.branch)) " cannot come back to " (stored(&shown.left.branch)) " before." } @else { (stored(&step(next))) } }
                p.meta { "From the graph alone. Nothing is guessed." }
            }
        }
        @if !notes.is_empty() {
            section {
                h3 { "Notes" @if shown.right.is_some() { " only on " (stored(&focus.branch)) } }
                ul.branch-notes {
                    @for note in notes.iter().rev() {
                        li {
                            @if let Some(title) = &note.title { b { (stored(title)) } " " }
                            @if let Some(text) = &note.content { span.clamp { (stored(text)) } }
                            span.meta { @if let Some(by) = &note.agent { (stored(by)) ", " } (age(visit, note.ts)) " ago" }
                        }
                    }
                }
            }
        }
    };
    let main = html! {
        div.beside {
            div.bar { h2 { (stored(&focus.branch)) @if !drawn { " as a picture" } } span.count { (many) } }
            @if many == 0 { p.quiet { "Nothing is thought on it yet." } }
            @else if !drawn && many > BESIDE {
                p { a data-soft href=(visit.with("reasoning", &[("view", Some("picture"))])) { "Draw its " (many) " thoughts" } }
            } @else if !drawn { (picture::graph(visit, focus, None)) }
            (beneath)
        }
    };
    let json = json!({"next": next, "notes": notes});
    Ok(Panel {
        main,
        beneath,
        json,
    })
}

fn step(next: &Next) -> String {
    let mut words = next.next.action.words().to_owned();
    if let Some(first) = words.get(..1).map(str::to_uppercase) {
        words.replace_range(..1, &first);
    }
    match &next.next.title {
        Some(title) => format!("{words}: {}. {}", plain(title), next.next.reason),
        None => format!("{words}. {}", next.next.reason),
    }
}

/// The notes that only the right branch has; of one branch alone, its last.
fn notes(visit: &Visit<'_>, shown: &Shown) -> Result<Vec<Entry>, Fault> {
    let workspace = visit.workspace;
    match &shown.right {
        Some(right) => {
            let asked = json!({"workspace": workspace, "from": shown.left.branch, "to": right.branch, "limit": NOTES});
            let found: Diff = visit.ask("branchmind_diff", asked)?;
            Ok(found.entries)
        }
        None => {
            let asked =
                json!({"workspace": workspace, "branch": shown.left.branch, "limit": NOTES});
            let found: Page<Entry> = visit.ask("branchmind_show", asked)?;
            Ok(found.entries)
        }
    }
}
