//! Purging: an operator erases content, at any time, wherever it stands in the workspace.
//!
//! What remains of an item takes its place, and core is derived anew from the log in the same
//! transaction, so that no index, snapshot or value derived from it is left. An item says who did
//! it, when, of which items and why; never what was erased.

mod plan;
mod redact;

use std::sync::Arc;

use serde::Serialize;
use understory_model::canon::{hex, sha256};
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::{Fact, Purged};
use understory_model::item::Item;
use understory_model::text::check_text;
use understory_model::{Caller, Id, Role, Seq, Ws, limits};
use understory_storage::{ReadTx, Tx, embeddings, entities, purge, scratch};

use crate::kernel::names::Scope;
use crate::kernel::project;
use crate::kernel::workspace::{self, Resolved};
use crate::system::purge::plan::{Plan, plan};
use crate::system::rebuild;
use crate::{Engine, Work, enter};

pub use crate::system::purge::redact::ERASED;

/// The type of the item that tells of a purge.
pub use understory_model::kind::PURGED;

/// What is to be erased, and why.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Things by any of their names: an item, or an entity with all its versions.
    pub names: Vec<String>,
    /// Only what looks like a credential in those, or in everything when nothing is named.
    pub credentials: bool,
    /// Texts to be erased wherever they stand.
    pub texts: Vec<String>,
    /// Leaves other things alone that hold the same text.
    pub only: bool,
    pub reason: String,
    pub project: Option<String>,
}

/// An item of which something is erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    pub seq: Seq,
    pub item: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub actor: String,
    pub at: String,
}

/// What was erased, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The item that tells of it; none before it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge: Option<Seq>,
    pub items: Vec<Place>,
    /// Answers kept for retries, and working texts.
    pub answers: usize,
    pub scratchpads: usize,
    /// Items whose agent or session is named so: these names stay.
    pub named_after: usize,
    /// What no purge reaches.
    pub out_of_reach: Vec<&'static str>,
}

const OUT_OF_REACH: [&str; 4] = [
    "backups, exports and replicas of the store",
    "answers that agents were given before, and what they wrote elsewhere",
    "names of agents, sessions and workspaces",
    "digests: a text that can be guessed can be confirmed by them, so change the credential",
];
const BY_A_SERVER: &str =
    "PostgreSQL's write-ahead log and archives, and free space until it is overwritten";
const BY_A_MODEL: &str = "what an external embedding endpoint was sent";

impl Engine {
    /// What a purge would erase.
    pub fn plan_purge(&self, caller: &Caller, asked: &Asked) -> Result<Report> {
        check(caller, asked)?;
        let planned = self.rows(caller, |tx, ws| {
            let scope = scope(tx, ws, caller, asked)?;
            plan(tx, scope, asked)
        })?;
        let planned = planned.ok_or_else(empty)?;
        Ok(self.report(&planned, None))
    }

    /// Erases for good. `tell` hears how far deriving core has come.
    pub fn purge(
        &self,
        caller: &Caller,
        asked: Asked,
        tell: impl FnMut(&str, Seq) + Send + 'static,
    ) -> Result<Report> {
        check(caller, &asked)?;
        let (options, lane) = (self.options.clone(), caller.workspace.clone());
        let (caller, mut tell) = (caller.clone(), tell);
        let (by, planned) = self.store.write(&lane, move |tx| {
            tx.without_limits()?;
            purge::lock_core(tx)?;
            let Resolved::There(_) = workspace::resolve(tx, &caller)? else {
                return Err(empty());
            };
            let clock = Arc::clone(&options.clock);
            let (ws, start) = enter(tx, &caller, clock.as_ref())?;
            let scope = scope(tx, ws, &caller, &asked)?;
            let planned = plan(tx, scope, &asked)?;
            let mut work = Work::new(tx, start, &caller, clock.as_ref(), options.rules());
            work.beyond_quota();
            let by = work.note(None, Fact::Purged(told(&planned, &asked.reason)))?;
            work.finish()?;
            drop(work);
            erase(tx, ws, by, &planned)?;
            purge::redo_core(tx, |tx| rebuild::replay_telling(tx, &mut tell)).map_err(unfit)?;
            Ok((by, planned))
        })?;
        self.store.finish_purging(&lane);
        Ok(self.report(&planned, Some(by)))
    }

    fn report(&self, planned: &Plan, purge: Option<Seq>) -> Report {
        let mut out_of_reach = OUT_OF_REACH.to_vec();
        if !self.is_embedded() {
            out_of_reach.push(BY_A_SERVER);
        }
        if self.options.embedder.is_some() {
            out_of_reach.push(BY_A_MODEL);
        }
        Report {
            purge,
            items: planned
                .items
                .iter()
                .map(|(place, _)| place.clone())
                .collect(),
            answers: planned.answers.len(),
            scratchpads: planned.scratches.len(),
            named_after: planned.named_after,
            out_of_reach,
        }
    }
}

fn check(caller: &Caller, asked: &Asked) -> Result<()> {
    if caller.role != Role::Operator {
        return Err(Fault::new(
            Code::Forbidden,
            format!("only an operator can purge, not the role {}", caller.role),
        )
        .hint("Ask the person who runs this store."));
    }
    check_text("reason", &asked.reason, limits::TEXT_CHARS, false)?;
    if asked.names.is_empty() && asked.texts.is_empty() && !asked.credentials {
        return Err(
            Fault::required("name").hint("Name things, or use --credentials or --text-from.")
        );
    }
    Ok(())
}

fn empty() -> Fault {
    Fault::not_found("the workspace is empty: there is nothing to erase")
}

/// A log that cannot be replayed without the text keeps it: everything is rolled back.
fn unfit(fault: Fault) -> Fault {
    match fault.code {
        Code::StoreCorrupt => Fault::conflict(format!(
            "nothing was erased: the log could not be replayed without it ({})",
            fault.message
        ))
        .hint("Purge the things by their names instead of a text that is part of a name."),
        _ => fault,
    }
}

fn scope<'c>(tx: &mut ReadTx<'_>, ws: Ws, caller: &'c Caller, asked: &Asked) -> Result<Scope<'c>> {
    let named = asked.project.as_deref().unwrap_or(&caller.project);
    let project = entities::by_handle(tx, ws, &project::handle(named))?;
    Ok(Scope {
        ws,
        project: project.map(|project| project.id),
        caller,
    })
}

/// What the item says: which items, a digest of what remains of each, and why.
fn told(planned: &Plan, reason: &str) -> Purged {
    let items = planned.items.iter();
    let items = items.map(|(place, remains)| (place.seq, hex(&sha256(remains.as_bytes()))));
    Purged {
        items: items.collect(),
        reason: reason.to_string(),
    }
}

fn erase(tx: &mut Tx<'_>, ws: Ws, by: Seq, planned: &Plan) -> Result<()> {
    for (place, remains) in &planned.items {
        purge::erase(tx, ws, place.seq, by, remains)?;
    }
    for (key, answer) in &planned.answers {
        purge::put_answer(tx, ws, key, answer.as_deref())?;
    }
    for (thing, left) in &planned.scratches {
        scratch::put(tx, ws, *thing, left)?;
    }
    let ids: Vec<Id> = planned.ids.iter().copied().collect();
    embeddings::forget(tx, ws, &ids)
}

/// Whether an item says that it left this of another.
pub(crate) fn left(purge: &Item, seq: Seq, remains: &str) -> bool {
    let digest = hex(&sha256(remains.as_bytes()));
    match Fact::read(purge) {
        Ok(Fact::Purged(purged)) => purged.items.contains(&(seq, digest)),
        _ => false,
    }
}
