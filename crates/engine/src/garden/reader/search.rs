//! `reader_search`: which passages of an artifact answer a query.
//!
//! They are looked for in a read, before the write that says so: a long text must not keep others
//! waiting for their turn.

use serde_json::{Map, Value, json};
use understory_model::budget::{Budget, fit_rows};
use understory_model::error::Result;
use understory_model::passage::Match;
use understory_model::text::{check_text, cut};
use understory_model::{Caller, Id, limits};

use super::{Open, Operation, Setting, artifact, name_of, record};
use crate::meaning::{best_line, in_lines};
use crate::names::Scope;
use crate::{View, Work, project};

/// Passages that one answer names.
const MOST: usize = 20;
/// Characters of a passage that are shown.
const SHOWN: usize = 240;

/// What was found.
#[derive(Debug, Clone)]
pub struct Hits {
    project: Id,
    params: Map<String, Value>,
    output: Value,
    /// How the answer begins.
    answer: Value,
    matches: Vec<Value>,
}

pub fn look_up(
    view: &mut View<'_, '_>,
    caller: &Caller,
    setting: &Setting,
    name: &str,
    query: &str,
) -> Result<Hits> {
    check_text("query", query, limits::LINE_CHARS, false)?;
    let project = project::to_read(view, caller, setting.project.as_deref())?;
    let scope = Scope {
        ws: view.ws,
        project: project.map(|project| project.id),
        caller: view.caller,
    };
    let found = artifact::find(view.tx, scope, name)?;
    let version = artifact::at(view.tx, view.ws, found.id(), found.row.head)?;
    let open = Open { found, version };
    let lines = open.version.texts();
    let found = in_lines(query, &lines, MOST);
    let places: Vec<Value> = found
        .iter()
        .map(|found| json!([found.lines.start + 1, found.lines.end]))
        .collect();
    let mut params = open.params();
    params.insert("query".into(), query.into());
    Ok(Hits {
        project: open.project(),
        params,
        output: json!({ "matches": places, "commit": open.hash() }),
        answer: answer_of(&open, found.len()),
        matches: found
            .iter()
            .map(|found| shown(query, &lines, found))
            .collect(),
    })
}

/// How the answer begins: here `total` counts what was found, and lines are lines.
fn answer_of(open: &Open, found: usize) -> Value {
    let mut answer = open.answer();
    answer["lines"] = answer["total"].take();
    answer["total"] = found.into();
    answer
}

/// The fault for an artifact where nothing is yet.
pub fn nothing_yet(caller: &Caller, setting: &Setting, name: &str) -> Result<Hits> {
    project::nothing_yet(caller, setting.project.as_deref())?;
    Err(artifact::nothing_yet(name))
}

fn shown(query: &str, lines: &[&str], found: &Match) -> Value {
    let passage = &lines[found.lines.clone()];
    json!({
        "start": found.lines.start + 1,
        "end": found.lines.end,
        "line": found.lines.start + best_line(query, passage) + 1,
        "score": (found.score * 1_000.0).round() / 1_000.0,
        "text": cut(&passage.join(" "), SHOWN),
    })
}

/// Writes down that the caller searched, and answers what was found.
pub fn search(
    work: &mut Work<'_, '_>,
    setting: &Setting,
    hits: &Hits,
    budget: &Budget,
) -> Result<Value> {
    let (params, output) = (hits.params.clone(), hits.output.clone());
    let seq = record(
        work,
        hits.project,
        setting,
        Operation::Search,
        params,
        output,
    )?;
    let item = name_of(work, seq)?;
    Ok(fit_rows(&hits.matches, budget, |kept| {
        let mut answer = hits.answer.clone();
        answer["matches"] = kept.into();
        answer["item"] = item.clone();
        answer
    }))
}
