//! Reasoning: the branches as a lineage, two of them side by side, the typed graph as a picture, and what both
//! branches changed, to choose from.

mod layout;
mod lineage;
mod pairs;
mod panel;
mod picture;

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::reasoning::branch::Branch;
use understory_engine::reasoning::branch_list::Branches;
use understory_engine::reasoning::conflict_show::Conflict;
use understory_engine::reasoning::graph_conflicts;
use understory_engine::reasoning::graph_merge::GraphMerged;
use understory_engine::reasoning::graph_query::Slice;
use understory_engine::reasoning::merge::Merged;
use understory_engine::reasoning::shape::Node;
use understory_model::{Code, Fault};

use crate::marks::{Mark, mark};
use crate::shell::hidden;
use crate::text::{count, plain, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place, Side, Width, no_page};

/// Branches that are asked for.
const BRANCHES: i64 = 50;
/// Thoughts of a branch: the newest.
const THOUGHTS: usize = picture::NODES;
/// Open conflicts that are looked at.
const CONFLICTS: usize = 50;
/// What a merge takes over at once.
const MERGED: i64 = 200;
/// The branch that no other was made for.
const MAIN: &str = "main";

/// What the page shows.
struct Shown {
    branches: Vec<Branch>,
    /// How many were made in all.
    made: i64,
    left: Slice,
    /// Absent where there is nothing to compare with.
    right: Option<Slice>,
    conflicts: Vec<Conflict>,
    merge: Option<Merge>,
}

/// What a merge of the right branch into the left would do.
struct Merge {
    thoughts: GraphMerged,
    notes: Merged,
}

impl Merge {
    fn is_empty(&self) -> bool {
        self.thoughts.merged == 0 && self.thoughts.conflicts_created == 0 && self.notes.merged == 0
    }
}

impl Shown {
    fn of(visit: &Visit<'_>) -> Result<Shown, Fault> {
        let workspace = visit.workspace;
        let asked = json!({"workspace": workspace, "limit": BRANCHES});
        let found: Branches = visit.ask("branchmind_branch_list", asked)?;
        let made = found.counts.made;
        let branches: Vec<Branch> = found
            .branches
            .into_iter()
            .filter(|branch| branch.name == MAIN || branch.base_branch.is_some())
            .collect();
        let newest = branches.iter().max_by_key(|branch| branch.made_at);
        let newest = newest.filter(|branch| branch.base_branch.is_some());
        let wanted = (visit.query.get("left"), visit.query.get("right"));
        let right = wanted.1.or(newest.map(|branch| branch.name.as_str()));
        let base = |name: &str| {
            let found = branches.iter().find(|branch| branch.name == name);
            found.and_then(|branch| branch.base_branch.as_deref())
        };
        let left = wanted.0.or(right.and_then(base)).unwrap_or(MAIN);
        let right = right.filter(|right| *right != left);
        Ok(Shown {
            made,
            left: slice(visit, left)?,
            right: right.map(|right| slice(visit, right)).transpose()?,
            conflicts: conflicts(visit)?,
            merge: match right {
                Some(right) if base(right) == Some(left) => Some(merge(visit, right, left)?),
                _ => None,
            },
            branches,
        })
    }

    /// The branch that one looks at: the right one, or the only one.
    fn focus(&self) -> &Slice {
        self.right.as_ref().unwrap_or(&self.left)
    }

    /// The open conflicts between the two branches, in the document that is shown.
    fn between(&self) -> impl Iterator<Item = &Conflict> {
        let right = self.right.as_ref().map(|right| right.branch.as_str());
        self.conflicts.iter().filter(move |one| {
            one.into == self.left.branch && right == Some(&one.from) && one.doc == self.left.doc
        })
    }

    /// This page without what is open on it, for after a form.
    fn place(&self) -> String {
        let left = segment(&self.left.branch);
        match &self.right {
            Some(right) => format!("reasoning?left={left}&right={}", segment(&right.branch)),
            None => format!("reasoning?left={left}&right={left}"),
        }
    }

    fn json(&self) -> Value {
        json!({
            "branches": self.branches,
            "left": self.left,
            "right": self.right,
            "conflicts": self.conflicts,
            "merge": self.merge.as_ref().map(|merge| json!({"thoughts": merge.thoughts, "notes": merge.notes})),
        })
    }
}

/// The open conflicts of every branch, the newest first.
pub fn conflicts(visit: &Visit<'_>) -> Result<Vec<Conflict>, Fault> {
    let context = &visit.context;
    let look =
        |view: &mut understory_engine::View<'_, '_>| graph_conflicts::everywhere(view, CONFLICTS);
    context.engine.view(context.caller, look)
}

fn slice(visit: &Visit<'_>, branch: &str) -> Result<Slice, Fault> {
    let doc = visit.query.get("doc");
    let asked =
        json!({"workspace": visit.workspace, "branch": branch, "limit": THOUGHTS, "doc": doc});
    visit.ask("branchmind_graph_query", asked)
}

fn merge(visit: &Visit<'_>, from: &str, into: &str) -> Result<Merge, Fault> {
    let asked = json!({"workspace": visit.workspace, "from": from, "into": into, "dry_run": true, "limit": MERGED});
    let mut thoughts = asked.clone();
    if let Some(doc) = visit.query.get("doc") {
        thoughts["doc"] = doc.into();
    }
    Ok(Merge {
        thoughts: visit.ask("branchmind_graph_merge", thoughts)?,
        notes: visit.ask("branchmind_merge", asked)?,
    })
}

/// What a node is, and where it stands, as a mark.
fn thought(node: &Node) -> Mark {
    let status = node.status.as_deref().unwrap_or_default();
    match node.kind.as_deref().unwrap_or_default() {
        "hypothesis" => match status {
            "confirmed" | "supported" | "accepted" | "proved" => Mark::Confirmed,
            "refuted" | "rejected" | "disproved" => Mark::Refuted,
            _ => Mark::Hypothesis,
        },
        "question" | "frame" => Mark::Question,
        "test" => Mark::Test,
        "evidence" => Mark::Evidence,
        "decision" => Mark::Decision,
        "task" => Mark::Work,
        "note" => Mark::Conversation,
        _ => Mark::Reasoning,
    }
}

/// What a node is called.
fn title(node: &Node) -> &str {
    let named = node
        .title
        .as_deref()
        .filter(|title| !title.trim().is_empty());
    let said = named.or(node.text.as_deref().and_then(|text| text.lines().next()));
    said.filter(|said| !said.trim().is_empty())
        .unwrap_or(&node.id)
}

/// The address at which a node of a branch is open beside the page.
fn peek(visit: &Visit<'_>, branch: &str, id: &str) -> String {
    visit.with("reasoning", &[("peek", Some(id)), ("on", Some(branch))])
}

pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] => all(visit).map_err(unknown),
        _ => Err(no_page()),
    }
}

/// A branch that is not there is a page that is not there.
fn unknown(fault: Fault) -> Fault {
    match fault.code {
        Code::UnknownBranch | Code::UnknownTarget => Fault {
            code: Code::NotFound,
            ..fault
        },
        _ => fault,
    }
}

fn all(visit: &Visit<'_>) -> Result<Content, Fault> {
    let shown = Shown::of(visit)?;
    let line = lineage::Lineage::of(visit, &shown)?;
    let view = visit.query.get("view").unwrap_or("pairs");
    let panel = panel::side(visit, &shown)?;
    let open = shown.conflicts.len() as i64;
    let branches = count(shown.made + 1, "branch", "branches");
    let mut json = shown.json();
    json["lineage"] = line.json();
    json["beside"] = panel.json;
    Ok(Content {
        place: Place::Reasoning,
        title: "Reasoning".to_owned(),
        counts: match open {
            0 => branches,
            open => format!("{branches}, {}", count(open, "conflict", "conflicts")),
        },
        controls: controls(visit, &shown, view),
        flush: true,
        main: html! {
            (line.shown(visit, &shown))
            @if shown.right.is_none() { (only(visit, &shown)) }
            @if visit.query.get("act") == Some("branch") { (new_branch(visit, &shown)) }
            (merging(visit, &shown))
            (elsewhere(visit, &shown))
            @match view {
                "picture" => { section.whole-picture { (picture::graph(visit, shown.focus(), visit.query.get("peek"))) (legend()) } }
                _ => { (pairs::shown(visit, &shown)) }
            }
            div.beneath { (panel.beneath) }
        },
        side: Some(Side {
            width: Width::Reading,
            label: "A thought, or the branch as a picture".to_owned(),
            main: panel.main,
        }),
        json,
        ..Content::default()
    })
}

fn only(visit: &Visit<'_>, shown: &Shown) -> Markup {
    html! {
        @if shown.made == 0 {
            p.empty { b { "Only main." } " A branch is a what-if: try a thought without touching what is known." }
        } @else {
            p.empty { "This is " b { (stored(&shown.left.branch)) } " alone. "
                a data-soft href=(visit.with("reasoning", &[("left", None), ("right", None)])) { "Compare two branches" } }
        }
    }
}

fn controls(visit: &Visit<'_>, shown: &Shown, view: &str) -> Markup {
    let link = |view: Option<&str>| visit.with("reasoning", &[("view", view)]);
    let merge = shown
        .merge
        .as_ref()
        .filter(|merge| !merge.is_empty() || merge.thoughts.conflicts_open > 0);
    html! {
        a.button data-soft data-hotkey="c" href=(visit.with("reasoning", &[("act", Some("branch"))])) { "New branch" }
        nav.views aria-label="Views" {
            a data-soft href=(link(None)) aria-current=[(view != "picture").then_some("page")] { @if shown.right.is_some() { "Side by side" } @else { "List" } }
            a data-soft href=(link(Some("picture"))) aria-current=[(view == "picture").then_some("page")] { "Picture" }
        }
        @if let Some(merge) = merge {
            a.button data-soft href=(visit.with("reasoning", &[("act", Some("merge")), ("view", None)])) {
                "Merge into " (stored(&shown.left.branch)) " "
                @if merge.thoughts.conflicts_open > 0 { span.red { (merge.thoughts.conflicts_open) " to settle first" } }
            }
        }
    }
}

/// Conflicts of other pairs of branches, which one reaches from here.
fn elsewhere(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let here = |one: &Conflict| {
        shown
            .between()
            .any(|other| other.conflict_id == one.conflict_id)
    };
    let mut pairs: Vec<(&str, &str, &str, i64)> = Vec::new();
    for one in shown.conflicts.iter().filter(|one| !here(one)) {
        let known = pairs
            .iter_mut()
            .find(|(from, into, doc, _)| *from == one.from && *into == one.into && *doc == one.doc);
        match known {
            Some(pair) => pair.3 += 1,
            None => pairs.push((&one.from, &one.into, &one.doc, 1)),
        }
    }
    html! {
        @for (from, into, doc, open) in pairs {
            p.elsewhere {
                (mark(Mark::Conflict)) " "
                a data-soft href=(visit.with("reasoning", &[("left", Some(into)), ("right", Some(from)), ("doc", Some(doc)), ("peek", None), ("on", None)])) {
                    (stored(from)) " and " (stored(into)) " both changed " (count(open, "thought", "thoughts"))
                }
            }
        }
    }
}

fn new_branch(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let from = &shown.focus().branch;
    let back = visit.with("reasoning", &[("act", None)]);
    html! {
        form.act.pairs-band method="post" action=(visit.link("do/branch-new")) data-draft="branch" id="new-branch" data-then=(visit.link("reasoning")) {
            (hidden(visit, "reasoning"))
            label { span.label { "What the what-if is called" } input name="name" required autocomplete="off" placeholder="what-if" data-focus; }
            label { span.label { "From" }
                select name="from" { @for branch in &shown.branches { option value=(branch.name) selected[branch.name == *from] { (plain(&branch.name)) } } } }
            button.main { "Make it" }
            a.button.plain data-soft href=(back) { "Leave it" }
        }
    }
}

/// What a merge would do, before it is done.
fn merging(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let merge = shown.merge.as_ref();
    let (Some(merge), Some(right)) = (
        merge.filter(|_| visit.query.get("act") == Some("merge")),
        &shown.right,
    ) else {
        return html! {};
    };
    let (thoughts, notes) = (&merge.thoughts, merge.notes.merged as i64);
    let takes = thoughts.merged as i64;
    let left = &shown.left.branch;
    let back = visit.with("reasoning", &[("act", None)]);
    html! {
        form.act.pairs-band method="post" action=(visit.link("do/branch-merge")) data-draft="merge" id="merge" data-then=(back) {
            (hidden(visit, &shown.place()))
            input type="hidden" name="from" value=(right.branch);
            input type="hidden" name="into" value=(left);
            input type="hidden" name="doc" value=(right.doc);
            p {
                @if takes == 0 && notes == 0 { "Nothing more comes over. " }
                @else { (count(takes, "thought or edge comes", "thoughts and edges come")) " over to " (stored(left)) ", and " (count(notes, "note", "notes")) ". " }
                @if thoughts.conflicts_open > 0 {
                    b.red { (count(thoughts.conflicts_open, "thought", "thoughts")) }
                    " both branches changed: " @if thoughts.conflicts_created > 0 { "after the merge you choose." } @else { "choose below." }
                }
                @if thoughts.pagination.has_more || merge.notes.pagination.has_more { " There is more than comes over at once: merge again then." }
            }
            button.main { "Merge" }
            a.button.plain data-soft href=(back) { "Leave it" }
        }
    }
}

fn legend() -> Markup {
    html! {
        ul.legend.meta aria-hidden="true" { @for one in picture::MARKS { li { (mark(one)) (one.word()) } } }
    }
}
