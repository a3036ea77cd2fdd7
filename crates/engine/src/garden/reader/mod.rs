//! The reader: how people and agents look at artifacts with the same tools, each seeing what the
//! other does.
//!
//! Every call is an item: others can follow where an agent looks, and later readers can
//! retrace it. An item says which lines were looked at in which commit and never repeats them, for
//! a commit never changes.

mod decide;
mod note;
mod proposals;
mod propose;
mod scroll;
mod search;
mod select;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::fields_of;
use understory_model::error::{Code, Fault, Result};
use understory_model::id::item_name;
use understory_model::lines::Version;
use understory_model::text::check_text;
use understory_model::{Id, Seq, limits};
use understory_storage::items;

use crate::Work;
use crate::garden::conversation;
use crate::garden::timeline::add::{append, caller_name};
use crate::kernel::artifact::{self, Found};
use crate::kernel::checked::Check;
use crate::kernel::content::call::{Done, NewCall, Operation, Output, Params, TOOL};
use crate::kernel::names::Scope;
use crate::kernel::project;
use crate::kinds::TOOL_CALL;

pub use decide::{Decided, Decision, decide, standing};
pub use note::{Noted, Remark, note};
pub use proposals::{Asked, Proposals, Status, Wanted, proposals};
pub use propose::{
    Proposal, Proposed, Shown as ShownProposal, State as ProposalState, propose,
    shape as proposal_shape,
};
pub use scroll::{Scroll, Scrolled, Way, scroll};
pub use search::{Found as Passages, Hits, Query, look_up, search};
pub use select::{Selected, select};

/// What every call takes: where, and why.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    pub project: Option<String>,
    /// What the caller is after, for those who follow it.
    pub context: Option<String>,
}

impl Check for Setting {
    fn check(&self) -> Result<()> {
        match &self.context {
            Some(context) => check_text("context", context, limits::LINE_CHARS, true),
            None => Ok(()),
        }
    }
}

/// An artifact as it stands.
struct Open {
    found: Found,
    version: Arc<Version>,
}

impl Open {
    fn project(&self) -> Id {
        self.found.row.project
    }

    fn label(&self) -> &str {
        &self.found.row.label
    }

    /// The commit that it stands at; `None` before the first.
    fn hash(&self) -> Option<&str> {
        self.found.head.as_ref().map(|head| head.hash.as_str())
    }

    fn params(&self) -> Params {
        Params {
            artifact: Some(self.found.name.clone()),
            label: Some(self.label().to_string()),
            ..Params::default()
        }
    }

    fn shown(&self) -> Opened {
        Opened {
            artifact: self.found.name.clone(),
            label: self.label().to_string(),
            commit: self.hash().map(str::to_string),
        }
    }

    /// As [`Open::range`], or the place before a line, where `end` is the line before `start`; the
    /// place before the line after the last is the end.
    fn room(&self, start: i64, end: i64) -> Result<std::ops::Range<usize>> {
        let at = usize::try_from(start).unwrap_or(0);
        if end.checked_add(1) == Some(start) && at >= 1 && at <= self.version.lines.len() + 1 {
            return Ok(at - 1..at - 1);
        }
        self.range(start, end)
    }

    /// Refuses a range that is not there; what it is, counted from 0.
    fn range(&self, start: i64, end: i64) -> Result<std::ops::Range<usize>> {
        let total = self.version.lines.len();
        let first = usize::try_from(start).unwrap_or(0);
        let last = usize::try_from(end).unwrap_or(0);
        if first < 1 || first > total {
            return Err(outside("start", self.label(), total));
        }
        if last < first {
            return Err(
                Fault::invalid("end", format!("is before start, which is {start}"))
                    .detail("field", "end")
                    .detail("lines", total),
            );
        }
        if last > total {
            return Err(outside("end", self.label(), total));
        }
        Ok(first - 1..last)
    }
}

/// The artifact that an answer is about, as it stands.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Opened {
    /// `entity_<uuid>`.
    pub artifact: String,
    pub label: String,
    /// The hash of its current commit; null before the first.
    pub commit: Option<String>,
}

fn outside(field: &str, label: &str, total: usize) -> Fault {
    let problem = match total {
        0 => format!("is outside {label}, which is empty"),
        1 => format!("is outside {label}, which has only line 1"),
        _ => format!("is outside {label}, which has lines 1 to {total}"),
    };
    Fault::invalid(field, problem)
        .detail("field", field)
        .detail("lines", total)
}

/// The artifact that a call names, in the project that it means.
fn open(work: &mut Work<'_, '_>, setting: &Setting, name: &str) -> Result<Open> {
    let (ws, project) = (
        work.ws(),
        project::to_write(work, setting.project.as_deref(), false)?,
    );
    let scope = Scope {
        ws,
        project: Some(project),
        caller: work.caller,
    };
    let found = artifact::find(work.read()?, scope, name)?;
    let version = artifact::at(work.read()?, ws, found.id(), found.row.head)?;
    Ok(Open { found, version })
}

/// Writes down that the caller did something with the reader, in its conversation.
fn record(
    work: &mut Work<'_, '_>,
    project: Id,
    setting: &Setting,
    operation: Operation,
    params: Params,
    output: Output,
) -> Result<Seq> {
    let log = conversation::to_write(work, project, None)?;
    let fields = fields_of(&NewCall {
        tool: TOOL,
        operation: operation.name(),
        params,
        result: Done {
            status: "success",
            output,
            timestamp: work.now,
        },
        caller: caller_name(work.caller),
        context: setting.context.as_deref(),
    })?;
    append(work, project, log, TOOL_CALL, fields, None)
}

/// The name of an item of this write.
fn name_of(work: &mut Work<'_, '_>, seq: Seq) -> Result<String> {
    let ws = work.ws();
    let made = items::uuids(work.read()?, ws, &[seq])?;
    let name = made.get(&seq).map(item_name);
    name.ok_or_else(|| Fault::new(Code::Internal, "an item of this write was not written"))
}
