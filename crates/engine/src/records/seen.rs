//! What a session has seen of a record: the one rule by which conflicts are found.
//!
//! A session has seen a version when an answer showed it that version whole: when it activated the
//! record (or a parent or child of it, where the record stood whole in the answer), when it wrote
//! the version itself, or when a sync told it, whole and in order, of every change that led there.
//! What was left out, cut or not reached by the pages was not seen. A record that has a newer
//! version than the session saw cannot be written without a conflict.
//!
//! What an answer showed is kept in the item of the call ([`Shown`]); `projection::session` makes
//! the leases follow, live and on a replay.
//!
//! A record that was only looked at, as on a page, is not active, and no lease says what was shown.
//! Whoever changes it from there names the versions that it began from ([`Versions`]).

use std::collections::BTreeMap;

use understory_model::error::{Code, Fault, Result};
use understory_model::item::{Seen, Shown, Stopped, Told};
use understory_model::text::quoted;
use understory_model::{Id, Seq};
use understory_storage::sessions::{self, Session};

use super::session;
use crate::Work;

/// The versions of records that a change began from, by handle, where they were not activated.
#[derive(Debug, Clone, Default)]
pub struct Versions(BTreeMap<String, i64>);

impl From<BTreeMap<String, i64>> for Versions {
    fn from(versions: BTreeMap<String, i64>) -> Versions {
        Versions(versions)
    }
}

impl Versions {
    /// The version named for a record, which it must have.
    pub fn of(&self, work: &mut Work<'_, '_>, id: Id, handle: &str) -> Result<Option<i64>> {
        let Some(version) = self.0.get(handle).copied() else {
            return Ok(None);
        };
        let last = work.thing(id)?.entity.version;
        if (1..=last).contains(&version) {
            return Ok(Some(version));
        }
        let problem = format!("{handle} has versions 1 to {last}");
        Err(Fault::invalid(format!("seen.{handle}"), problem).detail("versions", last))
    }
}

/// What a session knows of a record that it works on.
#[derive(Debug, Clone)]
pub struct Known {
    pub session: Session,
    /// The version that it last saw whole; 0 when it never did.
    pub version: i64,
}

impl Known {
    /// Whether the record, or a part of it, has a newer version than was seen.
    pub fn is_behind(&self, version: i64) -> bool {
        version > self.version
    }
}

/// What the session of this write knows of a record that it changes: the version that it names, else
/// what it saw when it activated the record.
pub fn known(work: &mut Work<'_, '_>, id: Id, handle: &str, versions: &Versions) -> Result<Known> {
    let Some(version) = versions.of(work, id, handle)? else {
        return activated(work, id, handle);
    };
    let home = work.thing(id)?.entity.project.unwrap_or_default();
    let session = session::enter(work, home, None)?;
    Ok(Known { session, version })
}

/// What the session of this write knows of a record; it must work on it.
fn activated(work: &mut Work<'_, '_>, id: Id, handle: &str) -> Result<Known> {
    let (ws, home) = (
        work.ws(),
        work.thing(id)?.entity.project.unwrap_or_default(),
    );
    if let Some(session) = session::current(work, home)?
        && let Some(lease) = sessions::lease(work.read()?, ws, session.id, id)?
    {
        return Ok(Known {
            session,
            version: lease.seen,
        });
    }
    let message = format!(
        "{handle} is not active in session {}",
        quoted(&work.session)
    );
    Err(Fault::new(Code::NotActivated, message)
        .detail("id", handle)
        .detail("session_id", work.session.as_str())
        .hint(format!("Call activate first: activate {handle}.")))
}

/// A change of a record that a session works on, as a sync told it.
#[derive(Debug, Clone, Copy)]
pub struct ToldChange {
    pub record: Id,
    pub version: i64,
    pub seq: Seq,
    /// The version that the session had seen before.
    pub seen: i64,
    /// Whether nothing of the change was left out.
    pub whole: bool,
}

/// What a sync showed by telling these changes, the oldest first. `stopped` says where it stopped,
/// if it did not tell everything.
pub fn by_changes(told: &[ToldChange], stopped: Option<Stopped>) -> Shown {
    struct Progress {
        before: i64,
        now: i64,
        upto: Seq,
    }
    let mut all: BTreeMap<Id, Progress> = BTreeMap::new();
    for change in told {
        let progress = all.entry(change.record).or_insert(Progress {
            before: change.seen,
            now: change.seen,
            upto: Seq::ZERO,
        });
        progress.upto = change.seq;
        // A gap is a change that was not shown whole, or not at all.
        if change.whole && change.version == progress.now + 1 {
            progress.now = change.version;
        }
    }
    let mut shown = Shown {
        stopped,
        ..Shown::default()
    };
    for (id, Progress { before, now, upto }) in all {
        if now > before {
            shown.seen.push(Seen { id, version: now });
        }
        // A session that was told everything needs no position for each record.
        if stopped.is_some() {
            shown.told.push(Told { id, upto });
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(record: Id, version: i64, whole: bool) -> ToldChange {
        ToldChange {
            record,
            version,
            seq: Seq(100 + version),
            seen: 2,
            whole,
        }
    }

    fn seen(told: &[ToldChange]) -> Vec<(Id, i64)> {
        let shown = by_changes(told, None);
        shown.seen.iter().map(|one| (one.id, one.version)).collect()
    }

    #[test]
    fn only_an_unbroken_run_of_whole_changes_is_seen() {
        assert_eq!(
            seen(&[change(Id(7), 3, true), change(Id(7), 4, true)]),
            [(Id(7), 4)]
        );
        assert_eq!(
            seen(&[
                change(Id(7), 3, true),
                change(Id(7), 4, false),
                change(Id(7), 5, true)
            ]),
            [(Id(7), 3)]
        );
        assert_eq!(seen(&[change(Id(7), 4, true)]), []);
        assert_eq!(seen(&[change(Id(7), 3, false)]), []);
        assert_eq!(
            seen(&[
                change(Id(7), 1, true),
                change(Id(7), 2, false),
                change(Id(7), 3, true)
            ]),
            [(Id(7), 3)]
        );
        assert_eq!(
            seen(&[change(Id(7), 3, true), change(Id(8), 3, false)]),
            [(Id(7), 3)]
        );
    }

    #[test]
    fn a_sync_that_stopped_says_how_far_it_came_with_each_record() {
        let stopped = Stopped {
            synced: Seq(5),
            tick: 1,
            changes: 2,
            own_ticks: 0,
        };
        let told = [
            change(Id(7), 3, true),
            change(Id(8), 4, false),
            change(Id(7), 4, false),
        ];
        let shown = by_changes(&told, Some(stopped));
        assert_eq!(
            shown.told,
            [
                Told {
                    id: Id(7),
                    upto: Seq(104)
                },
                Told {
                    id: Id(8),
                    upto: Seq(104)
                }
            ]
        );
        assert!(by_changes(&told, None).told.is_empty());
    }
}
