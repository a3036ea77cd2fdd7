//! `reader_scroll`, `reader_select`, `reader_note`: looking at lines, pointing at some, and saying
//! something about them.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use understory_model::answer::{Fit, Shape};
use understory_model::error::{Fault, Result};
use understory_model::limits;
use understory_model::text::check_text;
use understory_storage::reader_positions;

use super::{Open, Opened, Operation, Setting, name_of, open, record};
use crate::{Work, project};

/// Where the caller looks.
#[derive(Debug, Clone)]
pub enum Scroll {
    To {
        start: i64,
        end: i64,
    },
    /// By so many lines from where it last looked.
    Up(i64),
    Down(i64),
}

pub fn check_scroll(
    (start, end): (Option<i64>, Option<i64>),
    up: Option<i64>,
    down: Option<i64>,
) -> Result<Scroll> {
    let by = |field: &str, lines: i64| match lines {
        1.. => Ok(lines),
        _ => Err(Fault::invalid(field, "is a number of lines, 1 or more")),
    };
    match (start, end, up, down) {
        (Some(start), Some(end), None, None) if end < start => {
            Err(Fault::invalid("end", format!("is before start, {start}")))
        }
        (Some(start), Some(end), None, None) => Ok(Scroll::To { start, end }),
        (None, None, Some(lines), None) => Ok(Scroll::Up(by("up", lines)?)),
        (None, None, None, Some(lines)) => Ok(Scroll::Down(by("down", lines)?)),
        (Some(_), None, None, None) => Err(Fault::required("end")),
        _ => Err(Fault::invalid(
            "start",
            "and end, or up, or down: give one of the three",
        )),
    }
}

/// The answer of `reader_scroll`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Scrolled {
    #[serde(flatten)]
    pub opened: Opened,
    /// How many lines the artifact has.
    pub total: usize,
    /// The first and the last line that were looked at, from 1.
    pub start: usize,
    pub end: usize,
    pub lines: Vec<Seen>,
    /// The item that says so: `item_<uuid>`.
    pub item: String,
}

/// A line that was looked at.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    pub line: usize,
    pub content: String,
}

impl Fit for Scrolled {
    const SHAPE: Shape = Shape::Spare {
        list: "lines",
        spare: &[],
    };
}

pub fn scroll(
    work: &mut Work<'_, '_>,
    setting: &Setting,
    name: &str,
    way: &Scroll,
) -> Result<Scrolled> {
    let open = open(work, setting, name)?;
    let mut params = open.params();
    let (operation, range) = match way {
        Scroll::To { start, end } => {
            params.insert("start".into(), (*start).into());
            params.insert("end".into(), (*end).into());
            // Looking past the end shows what there is.
            let total = i64::try_from(open.version.lines.len()).unwrap_or(i64::MAX);
            let end = if *end < *start {
                *end
            } else {
                (*end).min(total.max(*start))
            };
            (Operation::ScrollTo, open.range(*start, end)?)
        }
        Scroll::Up(lines) => {
            params.insert("n".into(), (*lines).into());
            (Operation::ScrollUp, moved(work, &open, "up", -lines)?)
        }
        Scroll::Down(lines) => {
            params.insert("n".into(), (*lines).into());
            (Operation::ScrollDown, moved(work, &open, "down", *lines)?)
        }
    };
    look(work, &open, &range)?;
    let output = json!({ "start": range.start + 1, "end": range.end, "commit": open.hash() });
    let seq = record(work, open.project(), setting, operation, params, output)?;
    let item = name_of(work, seq)?;
    Ok(lines(&open, range, item))
}

/// Where the caller looked last, moved by so many lines and kept inside.
fn moved(work: &mut Work<'_, '_>, open: &Open, field: &str, by: i64) -> Result<Range<usize>> {
    let ws = work.ws();
    let agent = work.caller.agent.clone();
    let Some((start, end)) = reader_positions::get(work.tx, ws, &agent, open.found.id())? else {
        return Err(Fault::invalid(field, "has nowhere to start from")
            .hint("Look at some lines first, with start and end."));
    };
    let total = i64::try_from(open.version.lines.len()).unwrap_or(i64::MAX);
    let height = (end - start).clamp(0, (total - 1).max(0));
    let start = start.saturating_add(by).clamp(1, (total - height).max(1));
    open.range(start, start + height)
}

/// Remembers where the caller looked.
fn look(work: &mut Work<'_, '_>, open: &Open, range: &Range<usize>) -> Result<()> {
    let ws = work.ws();
    let place = |line: usize| i64::try_from(line).unwrap_or(i64::MAX);
    let view = (place(range.start + 1), place(range.end));
    let agent = work.caller.agent.clone();
    reader_positions::put(work.tx, ws, &agent, open.found.id(), view)
}

/// The lines of a range.
fn lines(open: &Open, range: Range<usize>, item: String) -> Scrolled {
    let seen = range.clone().map(|at| Seen {
        line: at + 1,
        content: open.version.lines[at].bare().to_string(),
    });
    Scrolled {
        opened: open.shown(),
        total: open.version.lines.len(),
        start: range.start + 1,
        end: range.end,
        lines: seen.collect(),
        item,
    }
}

/// The answer of `reader_select`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Selected {
    #[serde(flatten)]
    pub scrolled: Scrolled,
    /// How a text refers to the first line: `label:12@<commit>`.
    pub reference: String,
    /// The id of each line's text.
    pub fragments: Vec<String>,
}

impl Fit for Selected {
    const SHAPE: Shape = Shape::Spare {
        list: "lines",
        spare: &["reference", "fragments"],
    };
}

/// `reader_select`: these lines, and none else, are meant.
pub fn select(
    work: &mut Work<'_, '_>,
    setting: &Setting,
    name: &str,
    (start, end): (i64, i64),
) -> Result<Selected> {
    let open = open(work, setting, name)?;
    let range = open.range(start, end)?;
    look(work, &open, &range)?;
    let mut params = open.params();
    params.insert("start".into(), start.into());
    params.insert("end".into(), end.into());
    let ids: Vec<String> = range
        .clone()
        .map(|at| open.version.lines[at].fragment())
        .collect();
    let output = json!({ "start": start, "end": end, "commit": open.hash(), "fragments": ids });
    let seq = record(
        work,
        open.project(),
        setting,
        Operation::Select,
        params,
        output,
    )?;
    let item = name_of(work, seq)?;
    let commit: String = open
        .hash()
        .iter()
        .flat_map(|hash| hash.chars().take(12))
        .collect();
    Ok(Selected {
        scrolled: lines(&open, range, item),
        reference: format!("{}:{start}@{commit}", open.label()),
        fragments: ids,
    })
}

/// The answer of `reader_note`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Noted {
    /// The item that says it: `item_<uuid>`.
    pub item: String,
}

/// `reader_note`: a remark while reading.
pub fn note(work: &mut Work<'_, '_>, setting: &Setting, content: &str) -> Result<Noted> {
    check_text("content", content, limits::TEXT_CHARS, false)?;
    let project = project::to_write(work, setting.project.as_deref(), false)?;
    let mut params = Map::new();
    params.insert("content".into(), content.into());
    let seq = record(work, project, setting, Operation::Note, params, Value::Null)?;
    let item = name_of(work, seq)?;
    Ok(Noted { item })
}
