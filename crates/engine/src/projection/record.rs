//! Records: what lists show, what is counted, what is found, and who has seen what.

use serde_json::{Map, Value, json};
use understory_model::error::Result;
use understory_model::id::path_step;
use understory_model::item::{EntityDelta, Item};
use understory_model::{Id, Seq};
use understory_storage::Tx;
use understory_storage::activity::Activity;
use understory_storage::records::Record;

use super::{RECORD, damaged, session};
use crate::core::Core;
use crate::records::{event, fields};
use crate::search::said::of_record;

pub fn made(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    delta: &EntityDelta,
    data: &Map<String, Value>,
) -> Result<()> {
    let (id, project) = (item.seq, home(item)?);
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
    let state = fields::state(data);
    core.add_record(Record {
        id,
        project,
        handle: delta.handle.clone(),
        parent: parent.as_ref().map(|parent| parent.handle.clone()),
        path,
        depth,
        kind: fields::text(data, "type").to_string(),
        state: state.to_string(),
        brief: brief(data),
        children: 0,
        open_children: 0,
        changed: id,
        state_changed: id,
    });
    if let Some(parent) = parent {
        core.touch_record(tx, parent.id, |above| {
            above.children += 1;
            above.open_children += i64::from(state == fields::OPEN);
        })?;
    }
    links(tx, core, id, delta)?;
    core.texts.put(core.ws, id, RECORD, of_record(data), false);
    session::wrote(tx, core, item, delta.tick, Some(id))?;
    core.touch_project(tx, project, |row| {
        row.records += 1;
        row.root_records += i64::from(depth == 0);
    })?;
    count(tx, core, project, state, 1)?;
    told(tx, core, item, delta, event::RECORD_CREATED)
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
    let (data, parent) = (thing.data.clone(), thing.entity.parent);
    let (was, is) = (fields::state(before), fields::state(&data));
    core.touch_record(tx, id, |row| {
        row.brief = brief(&data);
        row.changed = item.seq;
        if was != is {
            row.state = is.to_string();
            row.state_changed = item.seq;
        }
    })?;
    if was != is {
        count(tx, core, project, was, -1)?;
        count(tx, core, project, is, 1)?;
        let opened = i64::from(is == fields::OPEN) - i64::from(was == fields::OPEN);
        if let Some(parent) = parent {
            core.touch_record(tx, parent, |above| above.open_children += opened)?;
        }
    }
    links(tx, core, id, delta)?;
    if ["title", "summary", "body", "metadata"]
        .iter()
        .any(|field| before.get(*field) != data.get(*field))
    {
        core.texts.put(core.ws, id, RECORD, of_record(&data), true);
    }
    session::wrote(tx, core, item, delta.tick, Some(id))?;
    let kind = match delta.action.as_str() {
        event::TRANSITIONED => event::STATE_TRANSITION,
        _ => event::RECORD_UPDATED,
    };
    told(tx, core, item, delta, kind)
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
    kind: &'static str,
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

fn count(tx: &mut Tx<'_>, core: &mut Core, project: Id, state: &str, by: i64) -> Result<()> {
    core.touch_project(tx, project, |row| match state {
        fields::OPEN => row.open_records += by,
        fields::LATER => row.later_records += by,
        _ => {}
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

fn brief(data: &Map<String, Value>) -> String {
    json!({ "title": data.get("title"), "summary": data.get("summary") }).to_string()
}
