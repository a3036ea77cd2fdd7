//! Deriving core again from the log.
//!
//! Core's head is the only thing in a store that knows how far its log went. So before core is
//! dropped the log is proved against it: a log that was cut or changed is refused, and not made to
//! look whole.

use std::sync::{Arc, Mutex, PoisonError};

use understory_model::error::{Code, Fault, Result};
use understory_model::item::genesis;
use understory_model::{Caller, Seq};
use understory_storage::workspaces::{self, Head, Workspace};
use understory_storage::{ReadTx, Replay, Tx, items};

use crate::kernel::core::Core;
use crate::kernel::work::Start;
use crate::system::audit::{self, Event};
use crate::system::verify::{self, Break};
use crate::{Engine, Work, projection};

/// Items replayed before what they changed is written: bounds memory.
const CHUNK: i64 = 1_000;
/// Breaks that an audit event keeps.
const KEPT_BREAKS: usize = 20;

/// How a store whose core is of another version is brought to this one.
pub(crate) const REPLAY: Replay = Replay {
    check: refuse_damage,
    fill: replay_all,
};

/// A workspace whose log is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub workspace: String,
    pub breaks: Vec<Break>,
}

/// Replays every workspace of a store into an empty core.
fn replay_all(tx: &mut Tx<'_>) -> Result<()> {
    replay_telling(tx, &mut |_, _| {})
}

pub(crate) fn replay_telling(tx: &mut Tx<'_>, tell: &mut dyn FnMut(&str, Seq)) -> Result<()> {
    for workspace in workspaces::list(tx)? {
        let mut head = start(&workspace);
        loop {
            let batch = items::after(tx, workspace.ws, head.seq, CHUNK)?;
            if batch.is_empty() {
                break;
            }
            let mut core = Core::new(workspace.ws);
            for item in &batch {
                projection::replay(tx, &mut core, item)?;
                head = Head {
                    seq: item.seq,
                    chain: item.chain,
                    at: item.realized_at,
                };
            }
            core.finish(tx)?;
            tell(&workspace.name, head.seq);
        }
        workspaces::put_head(tx, workspace.ws, &head)?;
    }
    Ok(())
}

/// The end of an empty log.
pub(crate) fn start(workspace: &Workspace) -> Head {
    Head {
        seq: Seq::ZERO,
        chain: genesis(&workspace.name),
        at: workspace.created_at,
    }
}

/// The workspaces whose logs do not prove, or are not what core's head knew of them.
fn damages(tx: &mut ReadTx<'_>) -> Result<Vec<Damage>> {
    let mut found = Vec::new();
    for workspace in workspaces::list(tx)? {
        let known = workspaces::known_head(tx, workspace.ws)?;
        let breaks = verify::breaks_before_rebuild(tx, &workspace, known.as_ref())?;
        if !breaks.is_empty() {
            found.push(Damage {
                workspace: workspace.name,
                breaks,
            });
        }
    }
    Ok(found)
}

fn refuse_damage(tx: &mut Tx<'_>) -> Result<()> {
    match damages(tx)?.first() {
        None => Ok(()),
        Some(damage) => Err(refused(damage)),
    }
}

fn refused(damage: &Damage) -> Fault {
    let Damage { workspace, breaks } = damage;
    let first = breaks.first();
    let first = first.map_or_else(String::new, |first| {
        format!("#{}: {}", first.seq, first.what)
    });
    let more = match breaks.len() {
        0 | 1 => String::new(),
        n => format!(" ({n} breaks in all)"),
    };
    Fault::new(
        Code::StoreCorrupt,
        format!("the log of {workspace} is damaged, and nothing was rebuilt: {first}{more}"),
    )
    .hint(
        "`understory verify` lists every break. Restore a backup, or keep what is left with \
         `understory rebuild --accept-damage`, which notes in the log what was accepted.",
    )
}

impl Engine {
    /// Drops core and derives it anew, in one transaction; `tell` hears how far it got. A damaged log
    /// is refused.
    pub fn rebuild(&self, tell: impl FnMut(&str, Seq) + Send + 'static) -> Result<()> {
        let mut tell = tell;
        self.store()
            .rebuild(refuse_damage, move |tx| replay_telling(tx, &mut tell))
    }

    /// As [`Engine::rebuild`], of a log that is damaged too: what was accepted is noted in each
    /// damaged log, as the caller's act, and told.
    pub fn rebuild_accepting_damage(
        &self,
        caller: &Caller,
        tell: impl FnMut(&str, Seq) + Send + 'static,
    ) -> Result<Vec<Damage>> {
        let found: Arc<Mutex<Vec<Damage>>> = Arc::default();
        let (seen, accepted) = (Arc::clone(&found), Arc::clone(&found));
        let (options, caller, mut tell) = (self.options.clone(), caller.clone(), tell);
        self.store().rebuild(
            move |tx| {
                *seen.lock().unwrap_or_else(PoisonError::into_inner) = damages(tx)?;
                Ok(())
            },
            move |tx| {
                replay_telling(tx, &mut tell)?;
                let damages = accepted
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                for damage in damages {
                    note(tx, &options, &caller, damage)?;
                }
                Ok(())
            },
        )?;
        let found = found.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(found.clone())
    }
}

/// Notes in a damaged log what was accepted.
fn note(tx: &mut Tx<'_>, options: &crate::Options, caller: &Caller, damage: Damage) -> Result<()> {
    let Damage {
        workspace,
        mut breaks,
    } = damage;
    breaks.truncate(KEPT_BREAKS);
    let Some(found) = workspaces::find(tx, &workspace)? else {
        return Ok(());
    };
    let Some(head) = workspaces::head(tx, found.ws, true)? else {
        return Ok(());
    };
    let core = Core::new(found.ws);
    let start = Start {
        head,
        core,
        apply: projection::apply,
    };
    let mut work = Work::new(tx, start, caller, options.clock.as_ref(), options.rules());
    audit::note(&mut work, &Event::DamageAccepted { breaks })?;
    work.finish().map(drop)
}
