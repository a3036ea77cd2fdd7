//! Two versions of a document side by side: each pair of lines is one row, and what is the same folds.

use std::fmt::Write;

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::garden::artifact::history::{self, Comparison, History, Numbered};
use understory_engine::garden::artifact::log::{Commits, Logged};
use understory_engine::garden::shown::Step;
use understory_engine::garden::timeline::trace::{Direction, Traced, trace};
use understory_engine::kernel::artifact;
use understory_engine::kernel::names::Scope;
use understory_model::Fault;
use understory_model::lines::{Pair, changed_words};

use super::document::{counts, views};
use super::name::Name;
use super::{marked, slider};
use crate::dates::when;
use crate::marks::{Mark, mark};
use crate::text::{count, number, stored};
use crate::visit::Visit;
use crate::{Content, Place, Side, Width, why};

/// Rows of a page.
const ROWS: usize = 400;
/// Equal lines beside a change that are shown with it, and how many are worth a fold.
const CONTEXT: usize = 3;
const FOLD: usize = 3;
/// Versions between the two that are listed, and of those how many with their cause.
const BETWEEN: usize = 20;

/// A row of the page: a pair of lines, or a stretch that is folded.
enum Row {
    Pair(Pair),
    Fold(usize),
}

pub fn page(visit: &Visit<'_>, name: &Name) -> Result<Content, Fault> {
    let (from, to) = (
        name.version.as_deref().unwrap_or_default(),
        name.with.as_deref().unwrap_or_default(),
    );
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let (label, history, compared, hashes, total) = engine.view(caller, |view| {
        let found = artifact::named(view, visit.project(), &name.label)?;
        let history = history::history(view, &found)?;
        let from = history::version_named(view, &found, &history, from)?;
        let to = history::version_named(view, &found, &history, to)?;
        let compared = history::compare(view, &found, &history, (Some(&from), Some(&to)))?;
        let total = found.row.lines;
        Ok((found.row.label, history, compared, (from, to), total))
    })?;
    let version = |hash: &str| history.commits.get(hash).and_then(|wrote| wrote.version);
    let versions = version(&hashes.0).zip(version(&hashes.1));
    let between = match versions {
        Some((from, to)) => between(visit, &label, &history, (from, to))?,
        None => Vec::new(),
    };
    let differ = compared
        .rows
        .iter()
        .filter(|row| !matches!(row, Pair::Same { .. }))
        .count();
    let differ = match differ {
        0 => "no line differs".to_owned(),
        1 => "1 line differs".to_owned(),
        some => format!("{} lines differ", number(some as i64)),
    };
    let equal = visit.query.get("equal").is_some();
    let rows = folded(&compared.rows, equal);
    let start = visit
        .query
        .get("row")
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    Ok(Content {
        place: Place::Artifacts,
        title: label.clone(),
        counts: counts(&history, usize::try_from(total).unwrap_or(0)),
        controls: html! { (views(visit, &name.line(None), versions.map(|(_, to)| to), versions.map(|(from, _)| from))) },
        flush: true,
        is_one: true,
        main: html! {
            @match versions {
                Some((from, to)) => (slider::compared(visit, &name.line(None), &history.versions, (from, to), &differ)),
                None => p.band { "One of the two stands beside the version in force: " (differ) "." },
            }
            (table(visit, name, &compared, (&rows, start, equal)))
        },
        side: versions.map(|_| Side {
            width: Width::Reading,
            label: "Versions between them".to_owned(),
            main: beside(visit, name, &between),
        }),
        json: json!({
            "from": {"commit": hashes.0, "version": versions.map(|(from, _)| from)},
            "to": {"commit": hashes.1, "version": versions.map(|(_, to)| to)},
            "rows": compared.rows.iter().filter_map(|row| told(row, &compared)).take(ROWS).collect::<Vec<_>>(),
            "between": between.iter().map(Between::told).collect::<Vec<_>>(),
        }),
        ..Content::default()
    })
}

/// A difference as the page's data has it.
fn told(row: &Pair, compared: &Comparison) -> Option<Value> {
    let side = |lines: &[String], at: usize| json!({"line": at + 1, "content": lines[at]});
    Some(match row {
        Pair::Same { .. } => return None,
        Pair::Changed { old, new } => {
            json!({"old": side(&compared.old, *old), "new": side(&compared.new, *new)})
        }
        Pair::Gone { old } => json!({"old": side(&compared.old, *old)}),
        Pair::Come { new } => json!({"new": side(&compared.new, *new)}),
    })
}

/// The rows with long equal stretches folded, unless all are wanted.
fn folded(pairs: &[Pair], equal: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, pair) in pairs.iter().enumerate() {
        let Pair::Same { old, new, count } = *pair else {
            rows.push(Row::Pair(pair.clone()));
            continue;
        };
        let lead = if at == 0 { 0 } else { CONTEXT };
        let tail = if at + 1 == pairs.len() { 0 } else { CONTEXT };
        let same = |rows: &mut Vec<Row>, from: usize, count: usize| {
            if count > 0 {
                let (old, new) = (old + from, new + from);
                rows.push(Row::Pair(Pair::Same { old, new, count }));
            }
        };
        let hidden = count.saturating_sub(lead + tail);
        if equal || hidden <= FOLD {
            same(&mut rows, 0, count);
        } else {
            same(&mut rows, 0, lead);
            rows.push(Row::Fold(hidden));
            same(&mut rows, lead + hidden, tail);
        }
    }
    rows
}

fn table(
    visit: &Visit<'_>,
    name: &Name,
    compared: &Comparison,
    (rows, start, equal): (&[Row], usize, bool),
) -> Markup {
    // Each line is a row of its own; a stretch may be longer than a page.
    let mut lines: Vec<Row> = Vec::new();
    let (mut at, mut more) = (0, false);
    'rows: for row in rows {
        let count = match row {
            Row::Pair(Pair::Same { count, .. }) => *count,
            _ => 1,
        };
        let skipped = start.saturating_sub(at).min(count);
        for step in skipped..count {
            if lines.len() == ROWS {
                more = true;
                break 'rows;
            }
            lines.push(match row {
                Row::Pair(Pair::Same { old, new, .. }) => Row::Pair(Pair::Same {
                    old: old + step,
                    new: new + step,
                    count: 1,
                }),
                Row::Pair(pair) => Row::Pair(pair.clone()),
                Row::Fold(hidden) => Row::Fold(*hidden),
            });
        }
        at += count;
    }
    let place = name.place();
    let equal_link = visit.with(
        &place,
        &[
            ("equal", if equal { None } else { Some("yes") }),
            ("row", None),
        ],
    );
    let titles = [&name.version, &name.with].map(|version| version.as_deref().unwrap_or_default());
    html! {
        table.sides {
            caption.skip { "Both versions, line by line" }
            colgroup { col; col; col; col; }
            thead { tr {
                @for title in titles { th colspan="2" scope="col" { "Version " (stored(title)) } }
            } }
            tbody {
                @for row in &lines {
                    @match row {
                        Row::Pair(pair) => (pair_row(compared, pair)),
                        Row::Fold(hidden) => tr.fold { td colspan="4" {
                            (count(*hidden as i64, "line is the same", "lines are the same")) " "
                            a data-soft href=(equal_link) { kbd { "E" } " shows them" }
                        } },
                    }
                }
            }
        }
        @if lines.is_empty() { p.empty { "Both are empty." } }
        a.skip data-soft data-hotkey="e" href=(equal_link) { @if equal { "Fold equal lines" } @else { "Show equal lines" } }
        @if more {
            p { a.more data-soft href=(visit.with(&place, &[("row", Some(&(start + ROWS).to_string()))])) { "Show " (ROWS) " more" } }
        }
    }
}

fn pair_row(compared: &Comparison, pair: &Pair) -> Markup {
    let (old, new) = (&compared.old, &compared.new);
    let side = |at: usize, class: &str, text: Markup| {
        html! { td.n.(class) { (at + 1) } td.text.(class) dir="auto" { (text) } }
    };
    let none = || html! { td.n.lacks {} td.text.lacks {} };
    html! {
        tr { @match *pair {
            Pair::Same { old: o, new: n, .. } => { (side(o, "same", marked::line(&old[o]))) (side(n, "same", marked::line(&new[n]))) },
            Pair::Changed { old: o, new: n } => {
                @let (left, right) = changed_words(&old[o], &new[n]);
                (side(o, "gone", marked::words(&old[o], &left))) (side(n, "come", marked::words(&new[n], &right)))
            },
            Pair::Gone { old: o } => { (side(o, "gone", marked::whole(&old[o]))) (none()) },
            Pair::Come { new: n } => { (none()) (side(n, "come", marked::whole(&new[n]))) },
        } }
    }
}

/// A version between the two, what it changed and why.
struct Between {
    version: Numbered,
    logged: Option<Logged>,
    lines: String,
    cause: Option<Step>,
}

impl Between {
    fn told(&self) -> Value {
        json!({"version": self.version, "lines": self.lines, "cause": self.cause, "commit": self.logged})
    }
}

/// The versions after one up to another, newest first.
fn between(
    visit: &Visit<'_>,
    label: &str,
    history: &History,
    (from, to): (usize, usize),
) -> Result<Vec<Between>, Fault> {
    let (low, high) = (from.min(to), from.max(to));
    let versions = history.versions[low..high].iter().rev().take(BETWEEN);
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let log: Commits = visit.ask(
        "garden_artifact_log",
        json!({"artifact": label, "limit": 100}),
    )?;
    let mut logged = log.deltas;
    let mut all: Vec<Between> = Vec::new();
    for version in versions {
        let at = logged.iter().position(|one| one.commit == version.commit);
        let logged = at.map(|at| logged.swap_remove(at));
        let item = logged
            .as_ref()
            .and_then(|one| Some(one.said.as_ref()?.uuid.clone()));
        let (lines, cause) = engine.view(caller, |view| {
            let found = artifact::named(view, visit.project(), label)?;
            let before = version
                .version
                .checked_sub(2)
                .map(|at| &history.versions[at]);
            let pair = (
                before.map(|one| one.commit.as_str()),
                Some(version.commit.as_str()),
            );
            let compared = history::compare(view, &found, history, pair)?;
            let scope = Scope::ids(view.ws, view.caller);
            let cause = match &item {
                Some(item) => match trace(view, scope, item, Direction::Causes, 2)? {
                    Traced::Steps(steps) => steps.steps.into_iter().nth(1),
                    Traced::Root(_) => None,
                },
                None => None,
            };
            Ok((lines_of(&compared.rows), cause))
        })?;
        all.push(Between {
            version: version.clone(),
            logged,
            lines,
            cause,
        });
    }
    Ok(all)
}

/// `lines 3 and 9`, `12 lines`, `line 4 taken away`.
fn lines_of(rows: &[Pair]) -> String {
    let new = rows.iter().filter_map(|row| match row {
        Pair::Changed { new, .. } | Pair::Come { new } => Some(new + 1),
        _ => None,
    });
    let (new, gone) = (
        new.collect::<Vec<_>>(),
        rows.iter()
            .filter(|row| matches!(row, Pair::Gone { .. }))
            .count(),
    );
    let mut told = match new.as_slice() {
        [] => String::new(),
        [one] => format!("line {one}"),
        [some @ .., last] if some.len() < 4 => {
            let some: Vec<String> = some.iter().map(usize::to_string).collect();
            format!("lines {} and {last}", some.join(", "))
        }
        many => count(many.len() as i64, "line", "lines"),
    };
    if gone > 0 {
        let joined = if told.is_empty() { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(
            told,
            "{joined}{} taken away",
            count(gone as i64, "line", "lines")
        );
    }
    told
}

fn beside(visit: &Visit<'_>, name: &Name, between: &[Between]) -> Markup {
    html! {
        h3.beside { (count(between.len() as i64, "version", "versions")) " between them" }
        @for one in between {
            section.version {
                (mark(Mark::Artifact))
                div.what {
                    p { a data-soft href=(visit.link(&name.at(Some(one.version.version)).place())) { b { (stored(&one.version.actor)) } }
                        " " span.meta { (one.version.version) ", " (when(visit, one.version.at)) } }
                    p { (one.lines) @if one.lines.is_empty() { "nothing but the end of the text" } }
                    @let reasoning = one.logged.as_ref().and_then(|one| one.said.as_ref()?.reasoning.as_deref());
                    @if let Some(cause) = &one.cause { p.meta.because { "because " (why::told_short(cause)) } }
                    @else if let Some(reasoning) = reasoning { p.meta.because { "because " (stored(reasoning)) } }
                    @else { p.meta { "no cause was named" } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(pairs: &[Pair], equal: bool) -> Vec<(bool, usize)> {
        let told = folded(pairs, equal).into_iter().map(|row| match row {
            Row::Fold(count) => (true, count),
            Row::Pair(Pair::Same { count, .. }) => (false, count),
            Row::Pair(_) => (false, 1),
        });
        told.collect()
    }

    #[test]
    fn long_equal_stretches_fold() {
        let same = |old, count| Pair::Same {
            old,
            new: old,
            count,
        };
        let pairs = [
            same(0, 20),
            Pair::Changed { old: 20, new: 20 },
            same(21, 30),
        ];
        assert_eq!(
            rows(&pairs, false),
            [(true, 17), (false, 3), (false, 1), (false, 3), (true, 27)]
        );
        assert_eq!(rows(&pairs, true), [(false, 20), (false, 1), (false, 30)]);
    }

    #[test]
    fn lines_are_told_in_few_words() {
        let changed = |new| Pair::Changed { old: new, new };
        assert_eq!(
            lines_of(&[changed(2), Pair::Come { new: 8 }]),
            "lines 3 and 9"
        );
        assert_eq!(lines_of(&[changed(3)]), "line 4");
        assert_eq!(lines_of(&[Pair::Gone { old: 3 }]), "1 line taken away");
        let many: Vec<Pair> = (0..9).map(changed).collect();
        assert_eq!(lines_of(&many), "9 lines");
    }
}
