//! The tools of the reasoning surface, one file each.

pub mod branch_create;
pub mod branch_list;
pub mod checkout;
pub mod commit;
pub mod conflict_resolve;
pub mod conflict_show;
pub mod delta;
pub mod diff;
pub mod export;
pub mod graph_apply;
pub mod graph_conflicts;
pub mod graph_diff;
pub mod graph_merge;
pub mod graph_query;
pub mod graph_validate;
pub mod init;
pub mod log;
pub mod merge;
pub mod notes_commit;
pub mod radar;
pub mod show;
pub mod status;
pub mod think_card;
pub mod think_context;
pub mod think_next;
pub mod think_template;

use serde_json::{Value, json};
use understory_engine::reasoning::notes::{self, Note};
use understory_engine::reasoning::place::{self, Kind, Place, Wanted};
use understory_engine::{Request, View};
use understory_model::budget::{Budget, fit_whole};
use understory_model::{Fault, limits, page};

use crate::call::Call;
use crate::claims;

/// These tools name their workspace, and it must be the caller's own.
fn check_workspace(context: &Call<'_>, named: &str) -> Result<(), Fault> {
    claims::workspace(context, Some(named))
}

fn budget(chars: Option<i64>, bytes: Option<i64>, lines: Option<i64>) -> Budget {
    Budget::new(chars, bytes, lines)
}

/// A limit as callers give it; 0 counts as 1.
fn limit(asked: Option<i64>, default: i64) -> i64 {
    page::limit(asked.map(|asked| asked.max(1)), default, limits::PAGE)
}

/// How many of what is shown beside something else; none are none.
fn at_least_none(asked: Option<i64>, default: i64) -> i64 {
    asked.unwrap_or(default).clamp(0, limits::PAGE)
}

/// The answer of a workspace where nothing is yet, within the budget like any other.
fn nothing_yet(mut answer: Value, budget: &Budget) -> Value {
    answer["truncated"] = false.into();
    fit_whole(answer, budget)
}

fn no_page(cursor: Option<i64>, limit: i64) -> Value {
    json!({ "cursor": cursor, "has_more": false, "limit": limit, "count": 0 })
}

/// Which document of a target is shown.
fn doc_kind(named: Option<&str>, target: bool) -> Result<Kind, Fault> {
    match (named, target) {
        (None, _) | (Some("notes"), true) => Ok(Kind::Notes),
        (Some("trace"), true) => Ok(Kind::Trace),
        (Some(_), true) => Err(Fault::one_of("doc_kind", &["notes", "trace"])),
        (Some(_), false) => {
            let fault = Fault::invalid("doc_kind", "can only be used with target");
            Err(fault.hint("Name the document itself with doc."))
        }
    }
}

type Found<'a, 'v, 'c> = Result<(&'a mut View<'v, 'c>, Place), Place>;

/// Reads in the document that is meant; before the workspace's first write there is only its name.
fn in_document<'v, 'c, T>(
    view: Option<&mut View<'v, 'c>>,
    wanted: &Wanted,
    kind: Kind,
    read: impl FnOnce(Found<'_, 'v, 'c>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    located(view, wanted, kind, false, read)
}

/// As [`in_document`], where a target may go with another branch.
fn on_branch<'v, 'c, T>(
    view: Option<&mut View<'v, 'c>>,
    wanted: &Wanted,
    kind: Kind,
    read: impl FnOnce(Found<'_, 'v, 'c>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    located(view, wanted, kind, true, read)
}

fn located<'v, 'c, T>(
    view: Option<&mut View<'v, 'c>>,
    wanted: &Wanted,
    kind: Kind,
    both: bool,
    read: impl FnOnce(Found<'_, 'v, 'c>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    match view {
        Some(view) => {
            let place = place::find(view.tx, view.ws, wanted, kind, both)?;
            read(Ok((view, place)))
        }
        None => read(Err(place::find_nothing(wanted, kind)?)),
    }
}

/// Appends a note to the document that is meant.
fn append(
    context: &Call<'_>,
    request: Request,
    wanted: Wanted,
    note: Note,
) -> Result<Value, Fault> {
    context
        .engine
        .write_json(context.caller, request, move |work| {
            let ws = work.ws();
            let place = place::find(work.tx, ws, &wanted, Kind::Notes, false)?;
            notes::check_writable(&place)?;
            notes::commit(work, &place, &note)
        })
}
