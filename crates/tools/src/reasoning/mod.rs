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

use understory_engine::Work;
use understory_engine::reasoning::notes::Committed;
use understory_engine::reasoning::place::{self, Kind, Place, Wanted};
use understory_model::answer::Answer;
use understory_model::{Fault, limits, page};

use crate::call::Call;
use crate::claims;
use crate::tool::{Common, Tool};

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    init::TOOL,
    status::TOOL,
    branch_create::TOOL,
    branch_list::TOOL,
    checkout::TOOL,
    notes_commit::TOOL,
    commit::TOOL,
    show::TOOL,
    log::TOOL,
    export::TOOL,
    diff::TOOL,
    merge::TOOL,
    graph_apply::TOOL,
    graph_query::TOOL,
    graph_validate::TOOL,
    graph_diff::TOOL,
    graph_merge::TOOL,
    graph_conflicts::TOOL,
    conflict_show::TOOL,
    conflict_resolve::TOOL,
    think_template::TOOL,
    think_card::TOOL,
    think_context::TOOL,
    think_next::TOOL,
    radar::TOOL,
    delta::TOOL,
];

/// What the tools that read take: how large the answer may be.
const BUDGET: &[Common] = &[Common::MaxChars, Common::MaxBytes, Common::MaxLines];

/// These tools name their workspace, and it must be the caller's own.
fn check_workspace(call: &Call<'_>, named: &str) -> Result<(), Fault> {
    claims::workspace(call, Some(named))
}

/// A limit as callers give it; 0 counts as 1.
fn limit(asked: Option<i64>, default: i64) -> i64 {
    page::limit(asked.map(|asked| asked.max(1)), default, limits::PAGE)
}

/// How many of what is shown beside something else; 0 is none.
fn at_least_none(asked: Option<i64>, default: i64) -> i64 {
    asked.unwrap_or(default).clamp(0, limits::PAGE)
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

/// What appends a note to a document.
type Rule<N> = fn(&mut Work<'_, '_>, &Place, &N) -> Result<Committed, Fault>;

/// Appends a note to the document that is meant.
fn append<N: Send + 'static>(
    call: &Call<'_>,
    wanted: Wanted,
    note: N,
    rule: Rule<N>,
) -> Result<Answer<Committed>, Fault> {
    call.write(move |work| {
        let ws = work.ws();
        let place = place::find(work.read()?, ws, &wanted, Kind::Notes, false)?;
        rule(work, &place, &note)
    })
}
