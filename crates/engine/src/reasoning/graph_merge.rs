//! `branchmind_graph_merge`: what a branch changed goes back into the one it came from.
//!
//! A key that only the branch changed is taken over. One that both changed differently becomes a
//! conflict and stays as it is. What was merged or settled before is left alone, however often the
//! merge is run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::json_of;
use understory_model::branch::Source;
use understory_model::canon::sha256;
use understory_model::error::{Fault, Result};
use understory_model::reasoning::{ConflictStatus, Resolution};
use understory_model::text::quoted;
use understory_model::{Id, Seq, Ws, limits};
use understory_storage::vertices::{self, Vertex, Wanted};
use understory_storage::{ReadTx, branches, conflicts};

use super::conflict::{Stored, side};
use super::merge::others;
use super::place::{self, Place};
use super::shape::{Pagination, millis};
use super::vertex::{EDGE, Graph, NODE, key_shown, kind, same, state};
use super::writing::write;
use crate::Work;
use crate::kernel::work::{Create, Edit};
use crate::kinds::EntityKind;

pub use super::merge::Asked;

/// What becomes of one key.
enum Fate {
    Skip,
    Take,
    Conflict,
}

struct Case {
    key: String,
    /// What both sides had last: what went over in a merge before, else what the branch began with.
    base: Option<Vertex>,
    ours: Option<Vertex>,
    theirs: Vertex,
    fate: Fate,
    /// Open conflicts that need not be decided any more, and why.
    stale: Vec<Id>,
    closed: Resolution,
}

struct Page {
    cases: Vec<Case>,
    more: bool,
}

/// A page of the keys that the branch changed itself, newest first.
fn page(tx: &mut ReadTx<'_>, ws: Ws, asked: &Asked) -> Result<Page> {
    let Some(branch) = branches::get(tx, ws, &asked.from)? else {
        place::check_branch(tx, ws, &asked.from)?;
        return Err(not_its_base(&asked.from, &asked.into, None));
    };
    if branch.base != asked.into {
        place::check_branch(tx, ws, &asked.into)?;
        return Err(not_its_base(&asked.from, &asked.into, Some(&branch.base)));
    }
    let place = Place {
        branch: asked.into.clone(),
        doc: asked.doc.clone(),
    };
    let into = Graph::open(tx, ws, place)?;
    let then = into.upto(branch.base_seq);
    let own = Source {
        branch: asked.from.clone(),
        cutoff: Seq::MAX,
    };
    let wanted = Wanted {
        kinds: &[NODE, EDGE],
        deleted: true,
        after: Seq::ZERO,
        before: asked.cursor.unwrap_or(Seq::MAX),
    };
    let most = asked.limit + 1;
    let mut changed = vertices::newest(tx, ws, &asked.doc, (&own, &[]), &wanted, most)?;
    let more = changed.len() as i64 > asked.limit;
    changed.truncate(usize::try_from(asked.limit).unwrap_or(usize::MAX));
    let keys: Vec<&str> = changed.iter().map(|vertex| vertex.key.as_str()).collect();
    let (mut bases, mut ours) = (then.latest(tx, &keys)?, into.latest(tx, &keys)?);
    // What last went from the branch into its base.
    let place = (asked.into.as_str(), asked.doc.as_str());
    bases.extend(vertices::given(tx, ws, place, &asked.from, &keys)?);
    let sides = (asked.from.as_str(), asked.into.as_str());
    let mut known = conflicts::about(tx, ws, sides, &asked.doc, &keys)?;
    let mut cases = Vec::with_capacity(changed.len());
    for theirs in changed {
        let key = theirs.key.clone();
        let (base, ours) = (bases.remove(&key), ours.remove(&key));
        let known = known.remove(&key).unwrap_or_default();
        let told = known.iter().any(|(_, about, _)| *about == theirs.seq);
        let open = known.into_iter().filter(|(_, _, open)| *open);
        let open: Vec<Id> = open.map(|(id, _, _)| id).collect();
        let agree = same(ours.as_ref(), Some(&theirs));
        let (fate, stale) = match (told, agree) {
            // It was reported once; it is settled by a resolution or by both sides agreeing.
            (true, true) => (Fate::Skip, open),
            (true, false) => (Fate::Skip, Vec::new()),
            (false, _) => (fate(base.as_ref(), ours.as_ref(), &theirs), open),
        };
        let closed = if told {
            Resolution::Agreed
        } else {
            Resolution::Superseded
        };
        cases.push(Case {
            key,
            base,
            ours,
            theirs,
            fate,
            stale,
            closed,
        });
    }
    Ok(Page { cases, more })
}

fn not_its_base(from: &str, into: &str, base: Option<&str>) -> Fault {
    let (from, into) = (quoted(from), quoted(into));
    let fault = Fault::invalid(
        "into",
        format!("{into} is not what {from} was branched from"),
    );
    match base {
        Some(base) => fault
            .hint(format!("Merge {from} into {}.", quoted(base)))
            .detail("base_branch", base),
        None => fault.hint("Only a branch that was made from another can be merged back."),
    }
}

fn fate(base: Option<&Vertex>, ours: Option<&Vertex>, theirs: &Vertex) -> Fate {
    // What the branch came back to by itself, or both came to, asks for nothing.
    if same(ours, Some(theirs)) || same(base, Some(theirs)) {
        Fate::Skip
    } else if same(base, ours) {
        Fate::Take
    } else {
        Fate::Conflict
    }
}

/// What a merged version is marked with.
pub fn source(from: &str, seq: Seq) -> String {
    format!("merge:{from}:{seq}")
}

/// The name of a conflict: the same for the same sides, however often they meet.
fn conflict_id(asked: &Asked, key: &str, theirs: Seq) -> Result<String> {
    let parts = json_of(&(&asked.from, &asked.into, &asked.doc, key, theirs))?;
    let digest = sha256(parts.to_string().as_bytes());
    let hex: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!("conflict-{hex}"))
}

/// The answer of `branchmind_graph_merge`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GraphMerged {
    pub from: String,
    pub into: String,
    pub doc: String,
    /// How many nodes and edges were taken over.
    pub merged: usize,
    /// How many were left alone.
    pub skipped: usize,
    /// How many both branches changed.
    pub conflicts_created: usize,
    /// How many conflicts between the two branches are open now.
    pub conflicts_open: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflict_ids: Vec<String>,
    pub pagination: Pagination<Seq>,
    /// Where there was nothing to merge: other documents that were written on the merged branch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
}

pub fn merge(work: &mut Work<'_, '_>, asked: &Asked) -> Result<GraphMerged> {
    let ws = work.ws();
    let page = page(work.read()?, ws, asked)?;
    let open = left_open(work.read()?, ws, asked, &page)?;
    let place = Place {
        branch: asked.into.clone(),
        doc: asked.doc.clone(),
    };
    let mut tally = Tally::default();
    for case in &page.cases {
        close(work, case)?;
        match case.fate {
            Fate::Skip => tally.skipped += 1,
            Fate::Take => {
                let theirs = &case.theirs;
                let from = source(&asked.from, theirs.seq);
                let key = (theirs.kind.as_str(), theirs.key.as_str());
                write(
                    work,
                    &place,
                    key,
                    &state(theirs),
                    theirs.deleted,
                    Some(&from),
                )?;
                tally.merged += 1;
            }
            Fate::Conflict => tally.conflicts.push(contest(work, asked, case)?),
        }
    }
    let documents = others(work.read()?, ws, asked, page.cases.len())?;
    Ok(shown(asked, &page, tally, (open, documents)))
}

/// What a merge would do.
pub fn look(tx: &mut ReadTx<'_>, ws: Ws, asked: &Asked) -> Result<GraphMerged> {
    let page = page(tx, ws, asked)?;
    let mut tally = Tally::default();
    for case in &page.cases {
        match case.fate {
            Fate::Skip => tally.skipped += 1,
            Fate::Take => tally.merged += 1,
            Fate::Conflict => {
                let id = conflict_id(asked, &case.key, case.theirs.seq)?;
                tally.conflicts.push(id);
            }
        }
    }
    let open = left_open(tx, ws, asked, &page)?;
    let documents = others(tx, ws, asked, page.cases.len())?;
    Ok(shown(asked, &page, tally, (open, documents)))
}

#[derive(Default)]
struct Tally {
    merged: usize,
    skipped: usize,
    conflicts: Vec<String>,
}

/// How many conflicts between the two branches are open once a page is merged.
fn left_open(tx: &mut ReadTx<'_>, ws: Ws, asked: &Asked, page: &Page) -> Result<i64> {
    let sides = (asked.from.as_str(), asked.into.as_str());
    let open = conflicts::open_between(tx, ws, sides, &asked.doc, limits::BATCH as i64)?;
    let closed: usize = page.cases.iter().map(|case| case.stale.len()).sum();
    let new = page.cases.iter();
    let new = new
        .filter(|case| matches!(case.fate, Fate::Conflict))
        .count();
    Ok(open + new as i64 - closed as i64)
}

fn shown(
    asked: &Asked,
    page: &Page,
    tally: Tally,
    (open, documents): (i64, Vec<String>),
) -> GraphMerged {
    let seqs: Vec<Seq> = page.cases.iter().map(|case| case.theirs.seq).collect();
    GraphMerged {
        from: asked.from.clone(),
        into: asked.into.clone(),
        doc: asked.doc.clone(),
        merged: tally.merged,
        skipped: tally.skipped,
        conflicts_created: tally.conflicts.len(),
        conflicts_open: open,
        conflict_ids: tally.conflicts,
        pagination: asked.page(&seqs, page.more),
        documents,
    }
}

/// Closes conflicts that need not be decided any more.
fn close(work: &mut Work<'_, '_>, case: &Case) -> Result<()> {
    for id in &case.stale {
        let settled = Stored::of(work.thing(*id)?)?.settled(case.closed, work.now);
        let (action, data) = (case.closed.name(), Some(settled.data()?));
        work.change(
            *id,
            Edit {
                action,
                data,
                ..Edit::default()
            },
        )?;
    }
    Ok(())
}

/// Makes a conflict.
fn contest(work: &mut Work<'_, '_>, asked: &Asked, case: &Case) -> Result<String> {
    let id = conflict_id(asked, &case.key, case.theirs.seq)?;
    let stored = Stored {
        kind: kind(&case.theirs),
        key: key_shown(&case.key),
        vertex: case.key.clone(),
        from: asked.from.clone(),
        into: asked.into.clone(),
        doc: asked.doc.clone(),
        status: ConflictStatus::Open,
        base: case.base.as_ref().map(side),
        theirs: side(&case.theirs),
        ours: case.ours.as_ref().map(side),
        theirs_seq: case.theirs.seq,
        created_at_ms: millis(work.now),
        resolution: None,
        resolved_at_ms: None,
    };
    work.create(Create {
        kind: EntityKind::Conflict,
        handle: id.clone(),
        data: stored.data()?,
        ..Create::default()
    })?;
    Ok(id)
}
