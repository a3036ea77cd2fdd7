//! The branches as lines: each begins where it was made and has a dot for what was thought on it; and the same as
//! a list, with how far each is ahead of and behind what it was made from.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Serialize;
use serde_json::{Value, json};
use understory_engine::reasoning::branch::Branch;
use understory_engine::reasoning::graph_diff::GraphDiff;
use understory_engine::reasoning::graph_query::Slice;
use understory_model::{Fault, Seq};

use super::{MAIN, Shown};
use crate::marks::{Mark, mark};
use crate::text::{age, count, number, plain, stored};
use crate::visit::Visit;

/// Lines that are drawn.
const LINES: usize = 8;
/// Dots of a line: the newest.
const DOTS: usize = 24;
/// Differences that are counted.
const COUNTED: i64 = 100;

/// The picture: its width, where lines begin, and how far they are apart.
const WIDTH: usize = 776;
const FROM: usize = 112;
const TO: usize = 744;
const TOP: usize = 28;
const APART: usize = 32;

/// A branch as a line.
#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    branch: Branch,
    /// What it has and its base has not, and the other way round; no further than counted.
    ahead: i64,
    behind: i64,
    /// How many thoughts wait to be settled before it is merged.
    conflicts: usize,
    #[serde(skip)]
    dots: Vec<Seq>,
}

pub struct Lineage {
    lines: Vec<Line>,
    /// Branches that are not drawn.
    others: Vec<String>,
}

impl Lineage {
    pub fn of(visit: &Visit<'_>, shown: &Shown) -> Result<Lineage, Fault> {
        let order = in_order(&shown.branches);
        let mut lines = Vec::new();
        for branch in order.iter().take(LINES) {
            lines.push(line(visit, shown, branch)?);
        }
        let others = order.iter().skip(LINES);
        Ok(Lineage {
            lines,
            others: others.map(|branch| branch.name.clone()).collect(),
        })
    }

    pub fn json(&self) -> Value {
        json!(self.lines)
    }

    pub fn shown(&self, visit: &Visit<'_>, shown: &Shown) -> Markup {
        html! {
            section.lineage id="lineage" aria-label="Branches" {
                details.as-list id="lineage-list" { summary { "Show as list" } (self.list(visit)) }
                @if self.lines.len() > 1 { (self.picture(visit, shown)) }
                @if !self.others.is_empty() {
                    p.meta { "Also "
                        @for (at, name) in self.others.iter().enumerate() {
                            @if at > 0 { ", " } a data-soft href=(choose(visit, name)) { (stored(name)) }
                        }
                        @if shown.made > (self.lines.len() + self.others.len()) as i64 - 1 {
                            " and " (number(shown.made + 1 - (self.lines.len() + self.others.len()) as i64)) " more"
                        }
                    }
                }
            }
        }
    }

    fn list(&self, visit: &Visit<'_>) -> Markup {
        html! {
            ul.rows {
                @for line in &self.lines {
                    li {
                        a data-soft href=(choose(visit, &line.branch.name)) { (stored(&line.branch.name)) }
                        @if let Some(base) = &line.branch.base_branch {
                            span.meta {
                                " from " (stored(base))
                                @if let Some(at) = line.branch.made_at { " " (age(visit, at)) " ago" }
                                @if let Some(by) = &line.branch.made_by { " by " (stored(by)) }
                                " · " (bounded(line.ahead)) " ahead, " (bounded(line.behind)) " behind"
                                @if line.conflicts > 0 { " · " span.red { (mark(Mark::Conflict)) " " (line.conflicts) " to settle" } }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Where on the picture each place of the log is: by its order, so that a quiet week takes no room.
    fn places(&self) -> BTreeMap<Seq, usize> {
        let seqs = self.lines.iter().flat_map(|line| {
            let base = line.branch.base_seq;
            line.dots.iter().copied().chain(base)
        });
        let mut all: Vec<Seq> = seqs.collect();
        all.sort_unstable();
        all.dedup();
        let steps = all.len().max(2) - 1;
        let at = |index: usize| FROM + 16 + index * (TO - FROM - 100) / steps;
        all.into_iter()
            .enumerate()
            .map(|(index, seq)| (seq, at(index)))
            .collect()
    }

    fn picture(&self, visit: &Visit<'_>, shown: &Shown) -> Markup {
        let places = self.places();
        let height = TOP + (self.lines.len() - 1) * APART + 24;
        let row = |name: &str| self.lines.iter().position(|line| line.branch.name == name);
        html! {
            div.wide-picture {
                svg.lineage-lines width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } role="group" aria-label="The branches as lines" {
                    @for (at, line) in self.lines.iter().enumerate() {
                        @let base = line.branch.base_branch.as_deref().and_then(row);
                        (drawn(visit, shown, line, at, (base, &places)))
                    }
                    text.now x=(TO) y=(TOP - 14) text-anchor="end" { "now" }
                }
            }
        }
    }
}

/// A number that was counted no further than some.
fn bounded(many: i64) -> String {
    match many {
        COUNTED.. => format!("{}+", COUNTED - 1),
        many => many.to_string(),
    }
}

/// A link that puts a branch beside what it was made from.
fn choose(visit: &Visit<'_>, name: &str) -> String {
    let changed = [
        ("left", None),
        ("right", Some(name)),
        ("doc", None),
        ("peek", None),
        ("on", None),
        ("act", None),
    ];
    match name {
        MAIN => visit.with(
            "reasoning",
            &[
                ("left", Some(MAIN)),
                ("right", Some(MAIN)),
                ("peek", None),
                ("on", None),
                ("act", None),
            ],
        ),
        _ => visit.with("reasoning", &changed),
    }
}

/// Main first, and each branch after the one that it was made from, the older first.
fn in_order(branches: &[Branch]) -> Vec<&Branch> {
    let mut left: Vec<&Branch> = branches.iter().collect();
    left.sort_by_key(|branch| (branch.base_branch.is_some(), branch.made_at, &branch.name));
    let mut order: Vec<&Branch> = Vec::new();
    while !left.is_empty() {
        let known = |name: &Option<String>| match name {
            None => true,
            Some(name) => order.iter().any(|one| one.name == *name),
        };
        // What was made from a branch that is not among these comes when nothing else is left.
        let at = left
            .iter()
            .position(|one| known(&one.base_branch))
            .unwrap_or(0);
        let one = left.remove(at);
        let after = order.iter().rposition(|other| {
            Some(&other.name) == one.base_branch.as_ref()
                || (one.base_branch.is_some() && descends(&order, other, one))
        });
        match after {
            Some(after) => order.insert(after + 1, one),
            None => order.push(one),
        }
    }
    order
}

/// Whether a branch descends from the one that another was made from.
fn descends(known: &[&Branch], branch: &Branch, of: &Branch) -> bool {
    let mut at = Some(branch);
    for _ in 0..known.len() {
        let Some(base) = at.and_then(|at| at.base_branch.as_ref()) else {
            return false;
        };
        if Some(base) == of.base_branch.as_ref() {
            return true;
        }
        at = known.iter().copied().find(|one| one.name == *base);
    }
    false
}

fn line(visit: &Visit<'_>, shown: &Shown, branch: &Branch) -> Result<Line, Fault> {
    let conflicts = shown.conflicts.iter();
    let conflicts = conflicts.filter(|one| one.from == branch.name).count();
    let mut line = Line {
        branch: branch.clone(),
        ahead: 0,
        behind: 0,
        conflicts,
        dots: Vec::new(),
    };
    let Some(base) = &branch.base_branch else {
        line.dots = newest(&own(visit, shown, &branch.name)?);
        return Ok(line);
    };
    let differ = |from: &str, to: &str| -> Result<GraphDiff, Fault> {
        let asked = json!({"workspace": visit.workspace, "from": from, "to": to, "limit": COUNTED});
        visit.ask("branchmind_graph_diff", asked)
    };
    let (ahead, behind) = (differ(base, &branch.name)?, differ(&branch.name, base)?);
    let after = branch.base_seq.unwrap_or(Seq::ZERO);
    line.dots = newest(&own(visit, shown, &branch.name)?);
    line.dots.retain(|seq| *seq > after);
    (line.ahead, line.behind) = (ahead.changes.len() as i64, behind.changes.len() as i64);
    Ok(line)
}

fn own(visit: &Visit<'_>, shown: &Shown, branch: &str) -> Result<Slice, Fault> {
    let known = [Some(&shown.left), shown.right.as_ref()];
    if let Some(known) = known
        .into_iter()
        .flatten()
        .find(|side| side.branch == branch)
    {
        return Ok(known.clone());
    }
    let asked = json!({"workspace": visit.workspace, "branch": branch, "limit": DOTS, "include_edges": false});
    visit.ask("branchmind_graph_query", asked)
}

fn newest(slice: &Slice) -> Vec<Seq> {
    let mut seqs: Vec<Seq> = slice.nodes.iter().map(|node| node.last_seq).collect();
    seqs.sort_unstable();
    seqs.split_off(seqs.len().saturating_sub(DOTS))
}

/// A line with its beginning, its dots and its name.
fn drawn(
    visit: &Visit<'_>,
    shown: &Shown,
    line: &Line,
    row: usize,
    (base, places): (Option<usize>, &BTreeMap<Seq, usize>),
) -> Markup {
    let y = TOP + row * APART;
    let of = |seq: &Seq| places.get(seq).copied().unwrap_or(FROM);
    let begins = line.branch.base_seq.as_ref().map_or(FROM, of);
    let last = line.dots.last().map_or(begins + 40, of);
    let ends = if base.is_none() {
        TO
    } else {
        last.max(begins + 48)
    };
    let is = |side: Option<&Slice>| side.is_some_and(|side| side.branch == line.branch.name);
    let class = match (is(shown.right.as_ref()), is(Some(&shown.left))) {
        (true, _) => "right",
        (_, true) => "left",
        _ => "",
    };
    let name: String = plain(&line.branch.name).chars().take(15).collect();
    html! {
        g.line.(class) {
            a href=(choose(visit, &line.branch.name)) data-soft aria-label=(plain(&line.branch.name)) {
                text.name x="8" y=(y + 4) { (name) @if name.len() < line.branch.name.len() { "…" } title { (plain(&line.branch.name)) } }
            }
            @match base {
                Some(base) => {
                    @let above = TOP + base * APART;
                    path d={ "M" (begins) " " (above) "C" (begins + 24) " " (above) " " (begins + 12) " " (y) " " (begins + 40) " " (y) "H" (ends) } {}
                    circle cx=(begins) cy=(above) r="4" {}
                }
                None => { path d={ "M" (FROM) " " (y) "H" (TO) } {} }
            }
            @for dot in &line.dots { circle cx=(of(dot).max(if base.is_some() { begins + 40 } else { 0 })) cy=(y) r="4" {} }
            @if let Some(base) = base {
                circle.end cx=(ends) cy=(y) r="5" {}
                @if line.conflicts > 0 {
                    @let above = TOP + base * APART;
                    path.stopped d={ "M" (ends + 6) " " (y) "C" (ends + 30) " " (y) " " (ends + 30) " " (above) " " (ends + 54) " " (above) } {}
                    text.stopped x=(WIDTH - 8) y=(y + 16) text-anchor="end" { "merge stopped: " (count(line.conflicts as i64, "conflict", "conflicts")) }
                }
            }
        }
    }
}
