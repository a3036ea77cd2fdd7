//! `reader_search`: which passages of an artifact answer a query.
//!
//! They are looked for in a read, before the write that says so: a long text must not keep others
//! waiting for their turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_model::passage::Match;
use understory_model::text::{check_text, cut};
use understory_model::{Id, limits};

use crate::garden::reader::{Open, Opened, Setting, artifact, name_of, record};
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::call::{Operation, Output, Params};
use crate::kernel::meaning::{best_line, in_lines};
use crate::kernel::names::Scope;
use crate::kernel::project;
use crate::{View, Work};

/// Passages that one answer names.
const NAMED: usize = 20;
/// Characters of a passage that are shown.
const SHOWN: usize = 240;

/// What was found, before it is written down.
#[derive(Debug, Clone)]
pub struct Hits {
    project: Id,
    /// What the item will say.
    params: Params,
    output: Output,
    opened: Opened,
    lines: usize,
    matches: Vec<Passage>,
}

/// The answer of `reader_search`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    #[serde(flatten)]
    pub opened: Opened,
    /// How many lines the artifact has.
    pub lines: usize,
    /// How many passages were found.
    pub total: usize,
    /// Best first.
    pub matches: Vec<Passage>,
    /// The item that says so: `item_<uuid>`.
    pub item: String,
}

/// Lines that answer the query.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    pub start: usize,
    pub end: usize,
    /// The line in it that answers best.
    pub line: usize,
    pub score: f64,
    /// How it begins.
    pub text: String,
}

impl Fit for Found {
    const SHAPE: Shape = Shape::Spare {
        list: "matches",
        spare: &[],
    };
}

/// What is looked for in which artifact.
#[derive(Debug, Clone)]
pub struct Query {
    pub artifact: String,
    pub query: String,
}

impl Check for Query {
    fn check(&self) -> Result<()> {
        check_text("query", &self.query, limits::LINE_CHARS, false)
    }
}

pub fn look_up(
    view: &mut View<'_, '_>,
    setting: &Checked<Setting>,
    asked: &Checked<Query>,
) -> Result<Hits> {
    let query = asked.query.as_str();
    let project = project::to_read(view, view.caller, setting.project.as_deref())?;
    let scope = Scope {
        ws: view.ws,
        project: project.map(|project| project.id),
        caller: view.caller,
    };
    let found = artifact::find(view.tx, scope, &asked.artifact)?;
    let version = artifact::at(view.tx, view.ws, found.id(), found.row.head)?;
    let open = Open { found, version };
    let lines = open.version.texts();
    let found = in_lines(query, &lines, NAMED);
    let matches = found
        .iter()
        .map(|found| (found.lines.start + 1, found.lines.end));
    Ok(Hits {
        project: open.project(),
        params: Params {
            query: Some(query.to_string()),
            ..open.params()
        },
        output: Output::Matches {
            matches: matches.collect(),
            commit: open.hash().map(str::to_string),
        },
        opened: open.shown(),
        lines: lines.len(),
        matches: found
            .iter()
            .map(|found| shown(query, &lines, found))
            .collect(),
    })
}

fn shown(query: &str, lines: &[&str], found: &Match) -> Passage {
    let passage = &lines[found.lines.clone()];
    Passage {
        start: found.lines.start + 1,
        end: found.lines.end,
        line: found.lines.start + best_line(query, passage) + 1,
        score: (found.score * 1_000.0).round() / 1_000.0,
        text: cut(&passage.join(" "), SHOWN),
    }
}

/// Writes down that the caller searched, and answers what was found.
pub fn search(work: &mut Work<'_, '_>, setting: &Checked<Setting>, hits: &Hits) -> Result<Found> {
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
    Ok(Found {
        opened: hits.opened.clone(),
        lines: hits.lines,
        total: hits.matches.len(),
        matches: hits.matches.clone(),
        item,
    })
}
