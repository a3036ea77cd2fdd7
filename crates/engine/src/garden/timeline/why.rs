//! `why`: the causes of anything, back to what it all began with, newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::{Fault, Result};
use understory_model::fragment::parse_anchor;
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::refs::parse_lines;
use understory_model::text::cut;
use understory_model::{Id, Seq, Ws, limits};
use understory_storage::{ReadTx, items};

use crate::View;
use crate::garden::shape::Shapes;
use crate::garden::shown::{Cited, Step};
use crate::garden::timeline::trace;
use crate::kernel::artifact::{self, LineAt, LinesAt};
use crate::kernel::content::content;
use crate::kernel::names::{self, Found, Scope};
use crate::kernel::parts::{self, Part};
use crate::kernel::titles::PREVIEW;
use crate::kinds::ARTIFACT_DELTA;

/// Changes of an entity that are read at once to find one that has a cause.
const CHUNK: i64 = 200;

/// The answer of `why`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    pub id: String,
    /// The line of an artifact that `id` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Line>,
    /// The lines, where it names several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// From the thing back to what it began with.
    pub steps: Vec<Step>,
    /// Whether the causes lead back to a step that was met.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cycle: bool,
    /// Whether there are more steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A line of an artifact, with the commit that wrote it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// `entity_<uuid>`.
    pub artifact: String,
    pub label: String,
    pub line: usize,
    pub content: String,
    pub fragment: String,
    pub commit: String,
    /// The part of a message that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Fit for Why {
    const SHAPE: Shape = Shape::List {
        list: "steps",
        drop: Drop::Last,
    };
}

pub fn why(view: &mut View<'_, '_>, scope: Scope<'_>, id: &str) -> Result<Why> {
    let (tx, ws) = (&mut *view.tx, view.ws);
    let mut answer = Why {
        id: id.to_string(),
        ..Why::default()
    };
    let lines = match parse_lines(id) {
        Some(named) => artifact::lines_at(tx, scope, &named)?,
        None => None,
    };
    let Some(lines) = lines else {
        let start = start(tx, scope, id)?;
        return explained(tx, scope, answer, (&start, Vec::new()));
    };
    let mut shown: Vec<Line> = lines
        .lines
        .iter()
        .map(|line| line_shape(&lines, line))
        .collect();
    match shown.len() {
        1 => answer.line = shown.pop(),
        _ => answer.lines = shown,
    }
    // What the lines themselves were made of comes before what else their commit cites.
    let mut made_of = Vec::new();
    for line in &lines.lines {
        if let Some(anchor) = line.source.as_deref().and_then(parse_anchor)
            && let Some(part) = parts::anchored(tx, scope, &anchor)?
        {
            made_of.push(part);
        }
    }
    let by = items::get(tx, ws, lines.newest().by.seq)?;
    let by = by.ok_or_else(|| Fault::not_found("no item explains it"))?;
    explained(tx, scope, answer, (&by, made_of))
}

/// A line of an artifact, with the commit that wrote it and what it was made of.
fn line_shape(lines: &LinesAt, line: &LineAt) -> Line {
    Line {
        artifact: lines.artifact.name.clone(),
        label: lines.artifact.row.label.clone(),
        line: line.line,
        content: line.content.clone(),
        fragment: line.fragment.clone(),
        commit: line.by.hash.clone(),
        source: line.source.clone(),
    }
}

fn start(tx: &mut ReadTx<'_>, scope: Scope<'_>, id: &str) -> Result<Item> {
    if id.contains('#') {
        return names::item(tx, scope, "id", id);
    }
    match names::find(tx, scope, "id", id)? {
        Found::Item(item) => Ok(*item),
        found => telling(tx, scope.ws, found.id()),
    }
}

/// The steps from an item back to its root.
fn explained(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    mut answer: Why,
    (start, mut parts): (&Item, Vec<Part>),
) -> Result<Why> {
    let ws = scope.ws;
    for part in informing(tx, scope, start)? {
        let known = |there: &Part| there.item.seq == part.item.seq && there.name == part.name;
        if !parts.iter().any(known) {
            parts.push(part);
        }
    }
    let mut trace = trace::backwards(tx, scope, start.seq, limits::TRACE_DEPTH)?;
    // A commit without a cause still names what it was made from.
    if let (1, Some(part)) = (trace.steps.len(), parts.first()) {
        let more = trace::backwards(tx, scope, part.item.seq, limits::TRACE_DEPTH)?;
        trace.steps.extend(more.steps);
        (trace.cycle, trace.more) = (more.cycle, more.more);
    }
    let shown = trace.steps.iter().map(|step| &step.item);
    let shapes = Shapes::load(
        tx,
        ws,
        scope.caller,
        shown.chain(parts.iter().map(|part| &part.item)),
    )?;
    answer.steps = trace
        .steps
        .iter()
        .map(|step| shapes.step(&step.item))
        .collect();
    if let Some(first) = answer.steps.first_mut() {
        first.references = parts.iter().map(cited).collect();
    }
    answer.cycle = trace.cycle;
    answer.truncated = trace.more;
    Ok(answer)
}

/// The parts of messages that a commit says it was made from.
fn informing(tx: &mut ReadTx<'_>, scope: Scope<'_>, item: &Item) -> Result<Vec<Part>> {
    if item.kind != ARTIFACT_DELTA {
        return Ok(Vec::new());
    }
    let fields = content(item).map(|content| content.fields);
    let named = fields.as_ref().and_then(|fields| fields.get("references"));
    let named = named.and_then(Value::as_array).into_iter().flatten();
    let scope = Scope {
        project: item.project,
        ..scope
    };
    let mut parts = Vec::new();
    for name in named.filter_map(Value::as_str) {
        let part = match parse_anchor(name) {
            Some(anchor) => parts::anchored(tx, scope, &anchor)?,
            None => parts::newest(tx, scope, name)?,
        };
        parts.extend(part);
    }
    Ok(parts)
}

fn cited(part: &Part) -> Cited {
    Cited {
        message_uuid: item_name(&part.item.uuid),
        content: cut(&part.content, PREVIEW),
    }
}

/// The change of an entity that says most about why it is as it is: the last that has a cause, else
/// the one that made it.
fn telling(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Item> {
    let (mut before, mut made) = (Seq::MAX, None);
    loop {
        let batch = items::of_entity(tx, ws, id, before, CHUNK)?;
        let Some(last) = batch.last() else { break };
        before = last.seq;
        if let Some(caused) = batch.iter().find(|item| item.cause.is_some()) {
            return Ok(caused.clone());
        }
        made = batch.into_iter().last();
    }
    made.ok_or_else(|| Fault::not_found("no item explains it"))
}
