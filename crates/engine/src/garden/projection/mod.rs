//! What follows from the items of the garden: where they stand, which parts they have, what they
//! refer to, and what becomes of it when they are taken back.

pub mod artifact;
pub mod conversation;

use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::fact::{ChangesAck, Corrected, Fossilized, Said as ItemSaid, Undone};
use understory_model::item::Item;
use understory_model::{Id, Seq};
use understory_storage::logs::{self, Frame};
use understory_storage::relations::{self, Relation};
use understory_storage::{Tx, credentials, cursors, fragments};

use crate::garden::entity::changes;
use crate::garden::timeline::add::words;
use crate::kernel::content::event::Event;
use crate::kernel::content::relation::is_mutable;
use crate::kernel::core::Core;
use crate::kernel::mentions;
use crate::kernel::search::{said, sort};
use crate::kernel::spoken::{cited, counted, mentioned, parts, replied};
use crate::kinds::{ItemKind, SYSTEM_EVENT};

/// Something was added to a conversation.
pub fn added(tx: &mut Tx<'_>, core: &mut Core, item: &Item, added: &ItemSaid) -> Result<()> {
    let said = &added.content;
    if let Some(log) = said.log {
        logs::add_item(tx, core.ws, log, item.seq)?;
        // What the server reports there, nobody has read yet.
        if Event::of(&said.fields).is_none_or(|_| item.kind != SYSTEM_EVENT) {
            stand(tx, core, item, log)?;
        }
    }
    let kind = ItemKind::of(&item.kind);
    // Of what the server writes, only what it reports is found by its words.
    let found_by = (!kind.is_servers() || kind == ItemKind::SystemEvent).then_some(kind);
    let found_by = found_by.filter(|_| !said.undone);
    let found_by = found_by.and_then(|kind| said::of_item(kind, &said.fields));
    if let Some(text) = found_by {
        core.texts
            .put(core.ws, Id::of(item.seq), sort::ITEM, text, false);
    }
    parts(tx, core, item)?;
    if let Some(answered) = said.replies_to {
        replied(tx, core, item, answered)?;
    }
    mentioned(tx, core, item, words(&said.fields).0, &said.mentions)?;
    counted(tx, core, item, &said.cited)
}

/// What an entity is found by, where no other surface says.
pub fn told(core: &mut Core, id: Id, data: &Map<String, Value>, again: bool) {
    core.texts
        .put(core.ws, id, sort::ENTITY, said::of_fields(data), again);
}

/// A participant who adds to its current conversation has seen it up to there.
fn stand(tx: &mut Tx<'_>, core: &mut Core, item: &Item, log: Id) -> Result<()> {
    let Some(project) = item.project else {
        return Ok(());
    };
    let frame = logs::get_frame(tx, core.ws, project, &item.actor)?;
    let is_root = |core: &mut Core, tx: &mut Tx<'_>| -> Result<bool> {
        let parent = core
            .thing(tx, log)?
            .and_then(|log| log.data.get("parent_uuid").cloned());
        Ok(parent.is_none_or(|parent| parent.is_null()))
    };
    let here = match &frame {
        Some(frame) => frame.log == log,
        None => is_root(core, tx)?,
    };
    if !here {
        return Ok(());
    }
    let frame = Frame {
        project,
        participant: item.actor.clone(),
        log,
        head: Some(item.seq),
    };
    logs::put_frame(tx, core.ws, &frame)
}

/// Somebody related two things.
pub fn related(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    data: &Map<String, Value>,
) -> Result<()> {
    let text = |field: &str| data.get(field).and_then(Value::as_str).map(str::to_string);
    let id = |field: &str| Id(data.get(field).and_then(Value::as_i64).unwrap_or_default());
    let kind = text("kind").unwrap_or_default();
    let relation = Relation {
        made: item.seq,
        n: 0,
        source: id("source"),
        source_type: text("source_type").unwrap_or_default(),
        target: id("target"),
        target_type: text("target_type").unwrap_or_default(),
        fragment: text("fragment"),
        inferred: false,
        found: Default::default(),
        place: None,
        fossil: !is_mutable(&kind),
        kind,
        at: item.realized_at,
    };
    relations::put(tx, core.ws, &relation)?;
    cited(tx, core, relation.source, item)?;
    cited(tx, core, relation.target, item)
}

/// Somebody took a relation back.
pub fn unrelated(tx: &mut Tx<'_>, core: &Core, made: Seq) -> Result<()> {
    relations::remove(tx, core.ws, made, 0)
}

/// The content of an item was taken back: nothing that followed from it stays.
pub fn undone(tx: &mut Tx<'_>, core: &mut Core, undone: &Undone) -> Result<()> {
    let target = undone.item;
    fragments::remove(tx, core.ws, target)?;
    relations::remove_said(tx, core.ws, target)?;
    mentions::erased(tx, core, target)?;
    credentials::remove(tx, core.ws, target)?;
    core.texts.remove(core.ws, Id::of(target));
    Ok(())
}

/// A person took back what texts were taken to mention.
pub fn corrected(tx: &mut Tx<'_>, core: &Core, corrected: &Corrected) -> Result<()> {
    let mut wrong = corrected.wrong.iter();
    wrong.try_for_each(|(made, n)| relations::remove(tx, core.ws, *made, *n))
}

/// Relations moved between core and soil.
pub fn fossilized(tx: &mut Tx<'_>, core: &Core, moved: &Fossilized) -> Result<()> {
    for (names, fossil) in [(&moved.fossil, true), (&moved.active, false)] {
        for (made, n) in names {
            if let Some(mut relation) = relations::get(tx, core.ws, *made, *n)? {
                relation.fossil = fossil;
                relations::put(tx, core.ws, &relation)?;
            }
        }
    }
    Ok(())
}

/// An agent has dealt with changes up to a place.
pub fn dealt_with(tx: &mut Tx<'_>, core: &Core, item: &Item, ack: &ChangesAck) -> Result<()> {
    let stream = ack.stream.as_deref().unwrap_or(changes::STREAM);
    cursors::put(tx, core.ws, &item.actor, stream, ack.seq)
}
