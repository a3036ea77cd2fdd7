//! `reader_scroll`, `reader_select`, `reader_note`: looking at lines, pointing at some, and saying
//! something about them.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::error::{Fault, Result};
use understory_storage::reader_positions;

use crate::Work;
use crate::garden::reader::{Open, Opened, Setting, name_of, open, record};
use crate::kernel::checked::Checked;
use crate::kernel::content::call::{Operation, Output};

/// Where the caller looks, as it says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scroll {
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub up: Option<i64>,
    pub down: Option<i64>,
}

/// Where the caller looks.
#[derive(Debug, Clone, Copy)]
pub struct Way(Kind);

#[derive(Debug, Clone, Copy)]
enum Kind {
    To {
        start: i64,
        end: i64,
    },
    /// By this many lines from where it last looked.
    Up(i64),
    Down(i64),
}

impl TryFrom<Scroll> for Way {
    type Error = Fault;

    fn try_from(scroll: Scroll) -> Result<Way> {
        let by = |field: &str, lines: i64| match lines {
            1.. => Ok(lines),
            _ => Err(Fault::invalid(field, "is a number of lines, 1 or more")),
        };
        let kind = match (scroll.start, scroll.end, scroll.up, scroll.down) {
            (Some(start), Some(end), None, None) if end < start => {
                return Err(Fault::invalid("end", format!("is before start, {start}")));
            }
            (Some(start), Some(end), None, None) => Kind::To { start, end },
            (None, None, Some(lines), None) => Kind::Up(by("up", lines)?),
            (None, None, None, Some(lines)) => Kind::Down(by("down", lines)?),
            (Some(_), None, None, None) => return Err(Fault::required("end")),
            _ => {
                let problem = "and end, or up, or down: give one of the three";
                return Err(Fault::invalid("start", problem));
            }
        };
        Ok(Way(kind))
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
    setting: &Checked<Setting>,
    name: &str,
    way: Way,
) -> Result<Scrolled> {
    let open = open(work, setting, name)?;
    let mut params = open.params();
    let (operation, range) = match way.0 {
        Kind::To { start, end } => {
            params.start = Some(start);
            params.end = Some(end);
            // Looking past the end shows what there is.
            let total = i64::try_from(open.version.lines.len()).unwrap_or(i64::MAX);
            let end = end.min(total.max(start));
            (Operation::ScrollTo, open.range(start, end)?)
        }
        Kind::Up(lines) => {
            params.n = Some(lines);
            (Operation::ScrollUp, moved(work, &open, "up", -lines)?)
        }
        Kind::Down(lines) => {
            params.n = Some(lines);
            (Operation::ScrollDown, moved(work, &open, "down", lines)?)
        }
    };
    look(work, &open, &range)?;
    let output = Output::Lines {
        start: range.start + 1,
        end: range.end,
        commit: open.hash().map(str::to_string),
    };
    let seq = record(work, open.project(), setting, operation, params, output)?;
    let item = name_of(work, seq)?;
    Ok(lines(&open, range, item))
}

/// Where the caller looked last, moved by this many lines and kept inside.
fn moved(work: &mut Work<'_, '_>, open: &Open, field: &str, by: i64) -> Result<Range<usize>> {
    let ws = work.ws();
    let agent = work.caller.agent.clone();
    let Some((start, end)) = reader_positions::get(work.read()?, ws, &agent, open.found.id())?
    else {
        return Err(Fault::invalid(field, "has nowhere to start from")
            .hint("Look at some lines first, with start and end."));
    };
    let total = i64::try_from(open.version.lines.len()).unwrap_or(i64::MAX);
    let height = (end - start).clamp(0, (total - 1).max(0));
    let start = start.saturating_add(by).clamp(1, (total - height).max(1));
    open.range(start, start + height)
}

/// Remembers where the caller looked.
pub(super) fn look(work: &mut Work<'_, '_>, open: &Open, range: &Range<usize>) -> Result<()> {
    let place = |line: usize| i64::try_from(line).unwrap_or(i64::MAX);
    let view = (place(range.start + 1), place(range.end));
    let agent = work.caller.agent.clone();
    work.live()
        .put_reader_position(&agent, open.found.id(), view)
}

/// The lines of a range.
pub(super) fn lines(open: &Open, range: Range<usize>, item: String) -> Scrolled {
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
