//! Two branches side by side: the same thought in the same row, what only one has, and what both changed, with the
//! choice between them.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::reasoning::conflict_show::Conflict;
use understory_engine::reasoning::graph_query::Slice;
use understory_engine::reasoning::shape::{Key, Node, Version};
use understory_model::{Seq, Time};

use super::{Shown, peek, thought, title};
use crate::marks::{Mark, mark};
use crate::shell::hidden;
use crate::text::{age, count, number, plain, stored};
use crate::visit::Visit;

/// Rows that are shown at once.
const ROWS: usize = 100;

/// A thought as each branch has it.
struct Pair<'s> {
    id: &'s str,
    left: Option<&'s Node>,
    right: Option<&'s Node>,
}

/// The thoughts of both branches, the oldest first, each once.
fn pairs(shown: &Shown) -> Vec<Pair<'_>> {
    let mut all: BTreeMap<&str, Pair<'_>> = BTreeMap::new();
    let empty = |id| Pair {
        id,
        left: None,
        right: None,
    };
    for node in &shown.left.nodes {
        all.entry(&node.id).or_insert_with(|| empty(&node.id)).left = Some(node);
    }
    for node in shown.right.iter().flat_map(|right| &right.nodes) {
        all.entry(&node.id).or_insert_with(|| empty(&node.id)).right = Some(node);
    }
    let first = |pair: &Pair<'_>| {
        let seqs = [pair.left, pair.right].into_iter().flatten();
        seqs.map(|node| node.last_seq).min().unwrap_or(Seq::ZERO)
    };
    let mut all: Vec<Pair<'_>> = all.into_values().collect();
    all.sort_by_key(|pair| (first(pair), pair.id));
    all
}

pub fn shown(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let all = pairs(shown);
    let begin = visit.query.get("row").and_then(|row| row.parse().ok());
    let begin: usize = begin.unwrap_or(0).min(all.len());
    let rows = &all[begin..(begin + ROWS).min(all.len())];
    let between: HashMap<&str, &Conflict> = shown
        .between()
        .filter_map(|one| match &one.key {
            Key::Node(id) => Some((id.as_str(), one)),
            Key::Edge(_) => None,
        })
        .collect();
    let edges: Vec<&Conflict> = shown
        .between()
        .filter(|one| matches!(one.key, Key::Edge(_)))
        .collect();
    let single = shown.right.is_none();
    html! {
        section.pairs.single[single] id="pairs" aria-label="Thoughts" {
            (heads(shown, &all))
            @for conflict in edges { (joined(visit, shown, conflict)) }
            @if rows.is_empty() && shown.made > 0 { p.empty { b { "Nothing is thought here yet." } } }
            @for pair in rows { (row(visit, shown, pair, between.get(pair.id).copied())) }
            (documents(visit, shown))
            @if begin + rows.len() < all.len() {
                a.more data-soft href=(visit.with("reasoning", &[("row", Some(&(begin + ROWS).to_string()))])) { "Show " (ROWS) " more" }
            } @else if shown.left.pagination.has_more || shown.right.as_ref().is_some_and(|right| right.pagination.has_more) {
                p.meta.more { "These are the newest " (super::THOUGHTS) " thoughts of each branch." }
            }
        }
    }
}

fn heads(shown: &Shown, all: &[Pair<'_>]) -> Markup {
    let thoughts = |slice: &Slice| {
        let more = if slice.pagination.has_more { "+" } else { "" };
        let many = slice.nodes.len() as i64;
        format!(
            "{}{more} {}",
            number(many),
            if many == 1 { "thought" } else { "thoughts" }
        )
    };
    let only = |side: fn(&Pair<'_>) -> bool| all.iter().filter(|pair| side(pair)).count();
    let mut told = Vec::new();
    let here = only(|pair| pair.left.is_none());
    if here > 0 {
        told.push(format!("{here} only here"));
    }
    let conflicts = shown.between().count() as i64;
    if conflicts > 0 {
        told.push(count(conflicts, "conflict", "conflicts"));
    }
    html! {
        @if !all.is_empty() || shown.right.is_some() {
            div.pair.heads {
                p { b { (stored(&shown.left.branch)) } " " span.meta { (thoughts(&shown.left)) } }
                @if let Some(right) = &shown.right {
                    p { b.blue { (stored(&right.branch)) } " " span.meta { (thoughts(right)) } span.meta.told { (told.join(", ")) } }
                }
            }
        }
    }
}

fn row(visit: &Visit<'_>, shown: &Shown, pair: &Pair<'_>, conflict: Option<&Conflict>) -> Markup {
    let chosen = visit.query.get("peek") == Some(pair.id);
    html! {
        div.pair.conflict[conflict.is_some()].is-chosen[chosen] id={ "pair-" (pair.id) } data-row {
            (cell(visit, shown, &shown.left, pair.left, pair.right, conflict))
            @if let Some(right) = &shown.right { (cell(visit, shown, right, pair.right, pair.left, conflict)) }
            @if let Some(conflict) = conflict { (choice(visit, shown, conflict)) }
        }
    }
}

fn cell(
    visit: &Visit<'_>,
    shown: &Shown,
    side: &Slice,
    node: Option<&Node>,
    other: Option<&Node>,
    conflict: Option<&Conflict>,
) -> Markup {
    let alone = shown.right.is_some() && other.is_none();
    let differs = node.zip(other).is_some_and(|(a, b)| !same(a, b));
    // What was written after the branches parted was written on this one.
    let right = shown.right.as_ref();
    let base = right.and_then(|right| shown.branches.iter().find(|one| one.name == right.branch));
    let parted = base.and_then(|branch| branch.base_seq);
    let changed =
        differs && node.is_some_and(|node| parted.is_some_and(|parted| node.last_seq > parted));
    html! {
        @match node {
            None => { div.cell.lacks { p.meta { "not on " (stored(&side.branch)) } } }
            Some(node) => {
                div.cell.only[alone] {
                    (mark(thought(node)))
                    div {
                        a.title data-soft data-peek href=(peek(visit, &side.branch, &node.id)) { span.clamp { (stored(title(node))) } }
                        p.meta {
                            (stored(node.kind.as_deref().unwrap_or("thought")))
                            @if let Some(status) = &node.status { ", " (stored(status)) }
                            @if alone { " · only here" } @else if changed && conflict.is_none() { " · changed here" }
                            @if let Some(at) = node.last_ts_ms { " · " (age(visit, Time(at * 1_000))) }
                        }
                    }
                }
            }
        }
    }
}

/// Whether two nodes say the same.
pub fn same(a: &Node, b: &Node) -> bool {
    let tags = |node: &Node| node.tags.clone().unwrap_or_default();
    let meta = |node: &Node| node.meta.clone().unwrap_or_default();
    (&a.kind, &a.title, &a.text, &a.status) == (&b.kind, &b.title, &b.text, &b.status)
        && tags(a) == tags(b)
        && meta(a) == meta(b)
}

/// A version in a line: what it is called and where it stands.
fn told(version: &Version) -> String {
    match version {
        Version::Node(node) if node.deleted => "taken away".to_owned(),
        Version::Node(node) => match &node.status {
            Some(status) => format!("{}, {status}", title(node)),
            None => title(node).to_owned(),
        },
        Version::Edge(edge) if edge.deleted => "taken away".to_owned(),
        Version::Edge(edge) => format!("{} {} {}", edge.from, edge.rel, edge.to),
    }
}

/// The choice between two versions of one thought.
fn choice(visit: &Visit<'_>, shown: &Shown, conflict: &Conflict) -> Markup {
    let (into, from) = (&conflict.into, &conflict.from);
    let keep = format!("Keep {}'s", plain(into));
    let take = format!("Take {}'s", plain(from));
    html! {
        form.act.choice method="post" action=(visit.link("do/settle")) data-draft={ "settle-" (conflict.conflict_id) } id=(conflict.conflict_id) {
            (hidden(visit, &shown.place()))
            input type="hidden" name="conflict" value=(conflict.conflict_id);
            input type="hidden" name="branch" value=(into);
            input type="hidden" name="doc" value=(conflict.doc);
            input type="hidden" name="op" value=(json!(as_it_was(conflict)).to_string());
            (mark(Mark::Conflict))
            p { b { "Both changed this one." }
                @match &conflict.base {
                    Some(base) => { " It was: " (stored(&told(base))) "." }
                    None => { " Neither had it when they parted." }
                }
                @if conflict.now.is_some() { " " span.meta { "One of them was changed again since." } }
            }
            span.acts {
                button name="keep" value="use_into" data-hotkey="1" aria-label=(keep) { (keep) " " kbd { "1" } }
                button name="keep" value="use_from" data-hotkey="2" aria-label=(take) { (take) " " kbd { "2" } }
            }
        }
    }
}

/// The change that brings back what stands there now.
fn as_it_was(conflict: &Conflict) -> Value {
    let now = conflict.now.as_ref().map(|now| &now.ours);
    match (now.unwrap_or(&conflict.ours), &conflict.key) {
        (Some(Version::Node(node)), _) if !node.deleted => json!({
            "op": "node_upsert", "id": node.id, "type": node.kind, "title": node.title, "text": node.text,
            "status": node.status, "tags": node.tags, "meta": node.meta,
        }),
        (Some(Version::Edge(edge)), _) if !edge.deleted => json!({
            "op": "edge_upsert", "from": edge.from, "rel": edge.rel, "to": edge.to, "meta": edge.meta,
        }),
        (_, Key::Node(id)) => json!({"op": "node_delete", "id": id}),
        (_, Key::Edge(key)) => {
            json!({"op": "edge_delete", "from": key.from, "rel": key.rel, "to": key.to})
        }
    }
}

/// Two versions of what joins two thoughts.
fn joined(visit: &Visit<'_>, shown: &Shown, conflict: &Conflict) -> Markup {
    html! {
        div.pair.conflict id={ "edge-" (conflict.conflict_id) } data-row {
            div.cell { p { @match &conflict.ours { Some(ours) => { (stored(&told(ours))) } None => { "nothing" } } } }
            div.cell { p { (stored(&told(&conflict.theirs))) } }
            (choice(visit, shown, conflict))
        }
    }
}

/// Where the document is empty, the others that the branch has.
fn documents(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let all = shown.left.documents.iter();
    let all = all.chain(shown.right.iter().flat_map(|right| &right.documents));
    let mut all: Vec<&String> = all.collect();
    all.sort();
    all.dedup();
    html! {
        @if !all.is_empty() {
            p.meta.more { "Other documents: "
                @for (at, doc) in all.iter().take(20).enumerate() {
                    @if at > 0 { ", " } a data-soft href=(visit.with("reasoning", &[("doc", Some(doc))])) { (stored(doc)) }
                }
            }
        }
    }
}
