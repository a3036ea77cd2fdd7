//! Conversations: which came from which, which are over, and where everybody stands.

use serde_json::Value;
use understory_model::error::Result;
use understory_model::fact::{FrameMoved, damaged};
use understory_model::item::{EntityDelta, Item};
use understory_model::{Id, Seq};
use understory_storage::Tx;
use understory_storage::logs::{self, Frame, Log};

use crate::kernel::core::Core;
use crate::kernel::mentions::{self, Source, Text};
use crate::kernel::search::said::of_log;
use crate::kinds::LOG;

pub fn made(tx: &mut Tx<'_>, core: &mut Core, item: &Item, delta: &EntityDelta) -> Result<()> {
    let title = delta
        .data
        .as_ref()
        .map(of_log)
        .filter(|text| !text.title.is_empty());
    if let Some(title) = title {
        core.texts.put(core.ws, Id::of(item.seq), LOG, title, false);
    }
    let parent = delta.place.as_ref().and_then(|place| place.to.as_ref());
    let log = Log {
        id: Id::of(item.seq),
        project: item.project.unwrap_or_default(),
        parent: parent.map(|parent| parent.id),
        open: true,
    };
    logs::put(tx, core.ws, &log)
}

/// A conversation that got its summary is over, and nobody stands in it any more.
pub fn changed(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<()> {
    let missing = || damaged(item, "its conversation is not there");
    let id = item.entity.ok_or_else(missing)?;
    let mut log = logs::get(tx, core.ws, id)?.ok_or_else(missing)?;
    let data = core.thing(tx, id)?.map(|thing| thing.data.clone());
    let data = data.unwrap_or_default();
    let over = data
        .get("summary")
        .is_some_and(|summary| !summary.is_null());
    if !over || !log.open {
        return Ok(());
    }
    let titled = data.get("title").is_some_and(Value::is_string);
    core.texts.put(core.ws, id, LOG, of_log(&data), titled);
    log.open = false;
    logs::put(tx, core.ws, &log)?;
    // Its summary can be referred to, part by part.
    crate::kernel::spoken::parts(tx, core, item)?;
    let summary = of_log(&data).body;
    let said = [Text::new("summary", &summary)];
    mentions::said(tx, core, item, Source::entity(item, id), &said)?;
    let there = logs::frames_in(tx, core.ws, id)?;
    if there.is_empty() {
        return Ok(());
    }
    let (back, left) = nearest_open(tx, core, &log)?.ok_or_else(missing)?;
    // What was seen there before going off.
    let head = logs::last_before(tx, core.ws, back, left)?;
    for frame in there {
        let frame = Frame {
            log: back,
            head,
            ..frame
        };
        logs::put_frame(tx, core.ws, &frame)?;
    }
    Ok(())
}

/// The nearest open conversation that one came from, and the place where it was left.
fn nearest_open(tx: &mut Tx<'_>, core: &Core, from: &Log) -> Result<Option<(Id, Seq)>> {
    let (mut left, mut parent) = (from.id, from.parent);
    while let Some(id) = parent {
        let Some(log) = logs::get(tx, core.ws, id)? else {
            return Ok(None);
        };
        if log.open {
            return Ok(Some((id, left.seq())));
        }
        (left, parent) = (id, log.parent);
    }
    Ok(None)
}

/// A participant stands elsewhere.
pub fn moved(tx: &mut Tx<'_>, core: &Core, item: &Item, said: &FrameMoved) -> Result<()> {
    let project = item
        .project
        .ok_or_else(|| damaged(item, "it names no project"))?;
    let frame = Frame {
        project,
        participant: said.fields.participant.clone(),
        log: said.frame.log,
        head: said.frame.head,
    };
    logs::put_frame(tx, core.ws, &frame)
}
