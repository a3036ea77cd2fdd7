//! Records: what lists show, what is counted, what is found, and who has seen what.

pub mod session;

use serde_json::{Map, Value};
use understory_model::answer::json_of;
use understory_model::error::Result;
use understory_model::fact::damaged;
use understory_model::id::path_step;
use understory_model::item::{EntityDelta, Item, Place, Seen};
use understory_model::record::{ActivityKind, RecordData, RecordState};
use understory_model::text::cut;
use understory_model::{Id, Seq};
use understory_storage::Tx;
use understory_storage::activity::Activity;
use understory_storage::records::Record;

use crate::kernel::content::{record, session_event as event};
use crate::kernel::core::Core;
use crate::kernel::mentions::{self, Source, Text};
use crate::kernel::search::said::of_record;
use crate::kinds::RECORD;
use crate::records::shape::Brief;

pub fn made(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    delta: &EntityDelta,
    data: &Map<String, Value>,
) -> Result<()> {
    let (id, project) = (Id::of(item.seq), home(item)?);
    let data = &read(item, data)?;
    let parent = delta.place.as_ref().and_then(|place| place.to.clone());
    let (path, depth) = match &parent {
        None => (path_step(id), 0),
        Some(parent) => {
            let above = core
                .record(tx, parent.id)?
                .ok_or_else(|| damaged(item, "no such parent"))?;
            (format!("{}{}", above.path, path_step(id)), above.depth + 1)
        }
    };
    let state = data.state;
    core.add_record(Record {
        id,
        project,
        handle: delta.handle.clone(),
        parent: parent.as_ref().map(|parent| parent.handle.clone()),
        path,
        depth,
        kind: data.kind.clone(),
        state,
        brief: brief(data)?,
        children: 0,
        open_children: 0,
        changed: item.seq,
        state_changed: delta.version,
    });
    if let Some(parent) = parent {
        core.touch_record(tx, parent.id, |above| {
            above.children += 1;
            above.open_children += i64::from(state.is_open());
        })?;
    }
    links(tx, core, id, delta)?;
    core.texts.put(core.ws, id, RECORD, of_record(data), false);
    core.add_keys(id, record::pairs(data));
    mentions::said(tx, core, item, Source::entity(item, id), &texts(data))?;
    let version = delta.version;
    session::wrote(tx, core, item, delta.tick, Some(Seen { id, version }))?;
    core.touch_project(tx, project, |row| {
        row.records += 1;
        row.root_records += i64::from(depth == 0);
    })?;
    count(tx, core, project, state, 1)?;
    told(tx, core, item, delta, ActivityKind::RecordCreated)
}

pub fn changed(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    delta: &EntityDelta,
    before: &Map<String, Value>,
) -> Result<()> {
    let (id, project) = (item.entity.unwrap_or_default(), home(item)?);
    let Some(thing) = core.thing(tx, id)? else {
        return Ok(());
    };
    let (data, parent) = (read(item, &thing.data)?, thing.entity.parent);
    let before = &read(item, before)?;
    let (was, is) = (before.state, data.state);
    if let Some(place) = &delta.place {
        moved(tx, core, item, id, place, was.is_open())?;
    }
    let brief = brief(&data)?;
    core.touch_record(tx, id, |row| {
        row.kind.clone_from(&data.kind);
        row.brief = brief;
        row.changed = item.seq;
        if was != is {
            row.state = is;
            row.state_changed = delta.version;
        }
    })?;
    if was != is {
        count(tx, core, project, was, -1)?;
        count(tx, core, project, is, 1)?;
        let opened = i64::from(is.is_open()) - i64::from(was.is_open());
        if let Some(parent) = parent {
            core.touch_record(tx, parent, |above| above.open_children += opened)?;
        }
    }
    links(tx, core, id, delta)?;
    if found_by(before) != found_by(&data) {
        core.texts.put(core.ws, id, RECORD, of_record(&data), true);
        let (old, new) = (record::pairs(before), record::pairs(&data));
        for pair in old.iter().filter(|pair| !new.contains(pair)) {
            core.remove_key(tx, id, pair)?;
        }
        core.add_keys(id, new.into_iter().filter(|pair| !old.contains(pair)));
        let said = (&texts(before)[..], &texts(&data)[..]);
        mentions::changed(tx, core, item, Source::entity(item, id), said)?;
    }
    let version = delta.version;
    session::wrote(tx, core, item, delta.tick, Some(Seen { id, version }))?;
    let kind = match delta.action.as_str() {
        event::TRANSITIONED => ActivityKind::StateTransition,
        _ => ActivityKind::RecordUpdated,
    };
    told(tx, core, item, delta, kind)
}

/// A record hangs from another parent now, or from none; what is below it comes along.
fn moved(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    id: Id,
    place: &Place,
    open: bool,
) -> Result<()> {
    let (project, missing) = (home(item)?, || damaged(item, "a move of or to no record"));
    let (path, depth) = match &place.to {
        Some(to) => {
            let above = core.record(tx, to.id)?.ok_or_else(missing)?;
            (format!("{}{}", above.path, path_step(id)), above.depth + 1)
        }
        None => (path_step(id), 0),
    };
    let row = core.record(tx, id)?.ok_or_else(missing)?;
    let (old_path, deeper) = (row.path.clone(), depth - row.depth);
    let was_root = row.depth == 0;
    core.move_records_below(tx, project, (&old_path, &path), deeper)?;
    core.touch_record(tx, id, |row| {
        row.path = path;
        row.depth = depth;
        row.parent = place.to.as_ref().map(|to| to.handle.clone());
    })?;
    for (side, by) in [(&place.from, -1), (&place.to, 1)] {
        if let Some(above) = side {
            core.touch_record(tx, above.id, |above| {
                above.children += by;
                above.open_children += by * i64::from(open);
            })?;
        }
    }
    core.touch_project(tx, project, |row| {
        row.root_records += i64::from(depth == 0) - i64::from(was_root);
    })
}

/// The texts in which a record mentions something.
fn texts(data: &RecordData) -> [Text<'_>; 3] {
    [
        Text::new("title", &data.title),
        Text::new("summary", &data.summary),
        Text::new("body", &data.body),
    ]
}

/// What a record is found by.
fn found_by(data: &RecordData) -> ([&str; 4], Option<&Map<String, Value>>) {
    let texts = [&data.title, &data.summary, &data.body, &data.kind];
    (texts.map(String::as_str), data.metadata.as_ref())
}

fn read(item: &Item, data: &Map<String, Value>) -> Result<RecordData> {
    RecordData::read(data).ok_or_else(|| damaged(item, "a record's value that cannot be read"))
}

fn home(item: &Item) -> Result<Id> {
    item.project
        .ok_or_else(|| damaged(item, "a record without a project"))
}

/// What happened, in the project's activity, as a change of a record.
fn told(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    delta: &EntityDelta,
    kind: ActivityKind,
) -> Result<()> {
    let (project, seq): (Id, Seq) = (home(item)?, item.seq);
    core.add_activity(Activity {
        project,
        seq,
        kind,
        target: item.entity,
    });
    core.touch_project(tx, project, |row| {
        row.changes += 1;
        row.updated = item.realized_at;
        row.tick = delta.tick.unwrap_or(row.tick);
    })
}

fn count(tx: &mut Tx<'_>, core: &mut Core, project: Id, state: RecordState, by: i64) -> Result<()> {
    core.touch_project(tx, project, |row| match state {
        RecordState::Open => row.open_records += by,
        RecordState::Later => row.later_records += by,
        RecordState::Resolved | RecordState::Discarded => {}
    })
}

fn links(tx: &mut Tx<'_>, core: &mut Core, id: Id, delta: &EntityDelta) -> Result<()> {
    for link in &delta.links {
        if link.remove {
            core.remove_link(tx, id, &link.relation, link.to.id)?;
        } else {
            core.add_link(id, &link.relation, link.to.id);
        }
    }
    Ok(())
}

/// Of a reason, what lists show.
const REASON: usize = 200;

fn brief(data: &RecordData) -> Result<String> {
    let brief = Brief {
        reason: data.reason.as_deref().map(|reason| cut(reason, REASON)),
        summary: data.summary.clone(),
        title: data.title.clone(),
    };
    Ok(json_of(&brief)?.to_string())
}
