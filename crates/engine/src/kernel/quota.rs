//! Quotas of a workspace: how many items, bytes and threads it may have. The write path asks here
//! once for every write; no rule may ask by itself. Without a quota nothing is counted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::{Seq, Ws};
use understory_storage::usage::{self, Counted};
use understory_storage::{ReadTx, Tx, workspaces};

use crate::View;

/// The most that each workspace of a store may have; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quotas {
    /// Items of its log.
    pub items: Option<i64>,
    /// Bytes of their contents.
    pub bytes: Option<i64>,
    pub threads: Option<i64>,
}

/// How much of a quota is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    pub what: &'static str,
    pub used: i64,
    pub max: i64,
}

/// Counts are kept anew after this many items, so that a write adds up no more than these.
const KEEP_EVERY: i64 = 64;

/// How close to its quota something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// From 90 percent on.
    Near,
    /// Nothing more is written.
    Reached,
}

impl Used {
    /// Whether there is room left.
    pub fn level(&self) -> Level {
        if self.used < self.max {
            Level::Near
        } else {
            Level::Reached
        }
    }

    fn is_near(&self) -> bool {
        // 90 percent; the product of large numbers would overflow.
        self.used >= self.max - self.max / 10
    }
}

/// What is used of each quota there is.
struct Tally {
    all: Vec<Used>,
    /// The bytes as they were last kept and as they are now, where they have a quota.
    bytes: Option<(Counted, Counted)>,
}

fn used(tx: &mut ReadTx<'_>, ws: Ws, head: Seq, quotas: Quotas) -> Result<Tally> {
    let (mut all, mut bytes) = (Vec::new(), None);
    let mut add = |what, used, max| all.push(Used { what, used, max });
    if let Some(max) = quotas.items {
        add("items", head.0, max);
    }
    if let Some(max) = quotas.bytes {
        let before = usage::counted(tx, ws)?;
        let now = Counted {
            seq: head,
            bytes: before.bytes + usage::bytes_after(tx, ws, before.seq)?,
        };
        add("bytes", now.bytes, max);
        bytes = Some((before, now));
    }
    if let Some(max) = quotas.threads {
        // They are numbered without gap and never deleted.
        add(
            "threads",
            workspaces::counter(tx, ws, HandleKind::Thread.prefix())?,
            max,
        );
    }
    Ok(Tally { all, bytes })
}

/// Refuses a write after which the workspace has more than it may. All of the write is in the
/// transaction already, and is rolled back with it.
pub(crate) fn check(tx: &mut Tx<'_>, ws: Ws, head: Seq, quotas: Quotas) -> Result<()> {
    if quotas == Quotas::default() {
        return Ok(());
    }
    let Tally { all, bytes } = used(tx, ws, head, quotas)?;
    if let Some(over) = all.iter().find(|one| one.used > one.max) {
        return Err(exceeded(over));
    }
    match bytes {
        Some((before, now)) if now.seq - before.seq >= KEEP_EVERY => usage::keep(tx, ws, now),
        _ => Ok(()),
    }
}

fn exceeded(over: &Used) -> Fault {
    let Used { what, used, max } = over;
    Fault::new(
        Code::QuotaExceeded,
        format!("the workspace may have {max} {what} and would have {used}: nothing was written"),
    )
    .detail("quota", what).detail("used", used).detail("max", max)
    .hint(format!(
"Ask the operator of the store to raise quota_{what}. Reading, undoing, purging and revoking still work."
    ))
}

/// The quotas of which 90 percent or more are used.
pub fn near(view: &mut View<'_, '_>) -> Result<Vec<Used>> {
    let quotas = view.rules.quotas;
    if quotas == Quotas::default() {
        return Ok(Vec::new());
    }
    let head = workspaces::head(view.tx, view.ws, false)?.map_or(Seq::ZERO, |head| head.seq);
    let mut all = used(view.tx, view.ws, head, quotas)?.all;
    all.retain(Used::is_near);
    Ok(all)
}

/// How much of one quota is used, for the answers that orient an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    pub used: i64,
    pub max: i64,
}

/// The quotas that are nearly used up, by name; `None` while there is nothing to tell.
pub(crate) fn told(view: &mut View<'_, '_>) -> Result<Option<BTreeMap<String, Share>>> {
    let near = near(view)?.into_iter();
    let told: BTreeMap<String, Share> = near
        .map(|Used { what, used, max }| (what.to_string(), Share { used, max }))
        .collect();
    Ok(Some(told).filter(|told| !told.is_empty()))
}
