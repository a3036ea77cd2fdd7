//! Sessions: what they hold, how far they have read, and whether they are open.

use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::fact::damaged;
use understory_model::item::{EntityDelta, Item, Seen, Shown};
use understory_model::record::{ActivityKind, SessionData, SessionDetails};
use understory_model::{Id, Seq};
use understory_storage::Tx;
use understory_storage::activity::Activity;
use understory_storage::projects::Project;
use understory_storage::sessions::{self, Session, UNKNOWN};

use crate::kernel::content::session_event as event;
use crate::kernel::core::Core;
use crate::records::session::handle;

pub fn made(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    data: &Map<String, Value>,
) -> Result<()> {
    let (at, project) = (item.realized_at, home(tx, core, item)?);
    let data = SessionData::read(data)
        .ok_or_else(|| damaged(item, "a session's value that cannot be read"))?;
    core.add_session(Session {
        id: Id::of(item.seq),
        project: project.id,
        name: data.name,
        agent: item.actor.clone(),
        parent: data.parent_session,
        open: true,
        last_activity: at,
        last_save: understory_model::Time::ZERO,
        saved: Seq::ZERO,
        sync_tick: project.tick,
        synced: item.seq,
        sync_changes: project.changes,
        own_changes: 0,
        own_ticks: 0,
        created: at,
    });
    core.touch_project(tx, project.id, |row| row.open_sessions += 1)?;
    told(core, item, project.id, ActivityKind::SessionStarted, None);
    Ok(())
}

pub fn changed(tx: &mut Tx<'_>, core: &mut Core, item: &Item, delta: &EntityDelta) -> Result<()> {
    let (id, ws) = (item.entity.unwrap_or_default(), core.ws);
    let project = home(tx, core, item)?;
    core.touch_session(tx, id, |row| row.last_activity = item.realized_at)?;
    let about = delta.about.as_ref().map(|about| about.id);
    let kind = match (delta.action.as_str(), about) {
        (event::SYNCED, _) => return synced(tx, core, item, id, delta.shown.as_ref()),
        (event::RESUMED, _) => {
            synced(tx, core, item, id, delta.shown.as_ref())?;
            // Its agent may have another number than last time; one who acts for it is not it.
            let itself = delta.details.is_none();
            core.touch_session(tx, id, |row| {
                row.open = true;
                if itself {
                    row.agent.clone_from(&item.actor);
                }
            })?;
            core.touch_project(tx, project.id, |row| row.open_sessions += 1)?;
            ActivityKind::SessionStarted
        }
        (event::BRANCHED, _) => ActivityKind::SessionBranched,
        (event::ACTIVATED, Some(target)) => {
            sessions::hold(tx, ws, id, target, item.seq)?;
            match &delta.shown {
                Some(shown) => saw(tx, core, id, shown)?,
                // Items from before this was written down: all of it was shown.
                None => {
                    let version = core.thing(tx, target)?.map_or(0, |row| row.entity.version);
                    sessions::saw(tx, ws, id, target, version)?;
                }
            }
            ActivityKind::Activation
        }
        (event::SAVED, _) => {
            wrote(tx, core, item, delta.tick, None)?;
            core.touch_session(tx, id, |row| {
                row.last_save = item.realized_at;
                row.saved = item.seq;
            })?;
            core.touch_project(tx, project.id, |row| {
                row.tick = delta.tick.unwrap_or(row.tick);
            })?;
            ActivityKind::SessionSaved
        }
        (event::CLOSED | event::ENDED, _) => {
            let synced = core.session(tx, id)?.map_or(Seq::ZERO, |row| row.synced);
            let ahead = sessions::was_told_ahead(tx, ws, id, synced)?;
            sessions::release(tx, ws, id)?;
            core.touch_session(tx, id, |row| {
                row.open = false;
                // With its leases goes which changes beyond the sync point it was told of.
                if ahead {
                    row.sync_changes = UNKNOWN;
                }
            })?;
            core.touch_project(tx, project.id, |row| row.open_sessions -= 1)?;
            ActivityKind::SessionClosed
        }
        (event::CONFLICT_DETECTED, _) => ActivityKind::ConflictDetected,
        (event::CONFLICT_RESOLVED, Some(target)) => {
            // In spite of others it went on; over a newer version it wrote.
            let details = SessionDetails::read(delta.details.as_ref());
            if details.sessions.is_some() {
                sessions::overrode(tx, ws, id, target, item.seq)?;
            }
            ActivityKind::ConflictResolved
        }
        _ => return Ok(()),
    };
    told(core, item, project.id, kind, about);
    Ok(())
}

/// A write in a session's name: of a record, which it has then seen, or of itself. A session that
/// had missed nothing before its own write has missed nothing after it.
pub fn wrote(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    tick: Option<i64>,
    record: Option<Seen>,
) -> Result<()> {
    let project = home(tx, core, item)?;
    let Some(id) = core.by_handle(tx, &handle(project.id, &item.session))? else {
        return Ok(());
    };
    let before = project.tick;
    core.touch_session(tx, id, |row| {
        row.last_activity = item.realized_at;
        row.own_changes += i64::from(record.is_some());
        if let Some(tick) = tick.filter(|_| row.gap(before) == 0) {
            row.sync_tick = tick;
            row.synced = item.seq;
            row.sync_changes = project.changes + i64::from(record.is_some());
            row.own_changes = 0;
            row.own_ticks = 0;
        } else {
            row.own_ticks += i64::from(tick.is_some());
        }
    })?;
    match record {
        Some(Seen {
            id: record,
            version,
        }) if record != Id::of(item.seq) => {
            sessions::wrote(tx, core.ws, id, record, (version, item.seq))
        }
        Some(Seen { id: record, .. }) => sessions::made(tx, core.ws, id, record, item.seq),
        None => Ok(()),
    }
}

/// A sync told everything, or as much as it says.
fn synced(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    id: Id,
    shown: Option<&Shown>,
) -> Result<()> {
    if let Some(shown) = shown {
        saw(tx, core, id, shown)?;
        for told in &shown.told {
            sessions::told(tx, core.ws, id, told.id, told.upto)?;
        }
    }
    let project = home(tx, core, item)?;
    core.touch_session(tx, id, |row| match shown.and_then(|shown| shown.stopped) {
        Some(stopped) => {
            row.sync_tick = stopped.tick;
            row.synced = stopped.synced;
            row.sync_changes = stopped.changes;
            row.own_ticks = stopped.own_ticks;
        }
        None => {
            row.sync_tick = project.tick;
            row.synced = item.seq;
            row.sync_changes = project.changes;
            row.own_changes = 0;
            row.own_ticks = 0;
        }
    })
}

fn saw(tx: &mut Tx<'_>, core: &Core, id: Id, shown: &Shown) -> Result<()> {
    for seen in &shown.seen {
        sessions::saw(tx, core.ws, id, seen.id, seen.version)?;
    }
    Ok(())
}

fn home(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<Project> {
    let missing = || damaged(item, "a session without a project");
    let id = item.project.ok_or_else(missing)?;
    core.project(tx, id)?.cloned().ok_or_else(missing)
}

fn told(core: &mut Core, item: &Item, project: Id, kind: ActivityKind, target: Option<Id>) {
    core.add_activity(Activity {
        project,
        seq: item.seq,
        kind,
        target,
    });
}
