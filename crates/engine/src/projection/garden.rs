//! What follows from the items of the garden: where they stand, which parts they have, what they
//! refer to, and what becomes of it when they are taken back.

use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::fact::{ChangesAck, Corrected, Fossilized, Said as ItemSaid, Undone};
use understory_model::fade;
use understory_model::item::Item;
use understory_model::{Id, Seq};
use understory_storage::Tx;
use understory_storage::logs::{self, Frame};
use understory_storage::relations::{self, Found, Place, Relation};
use understory_storage::{credentials, cursors, fragments};

use super::mentions;
use crate::core::Core;
use crate::garden::entity::changes;
use crate::garden::relation::relate::{MENTIONS, is_mutable};
use crate::garden::relation::relations::Said;
use crate::garden::system::Event;
use crate::garden::timeline::add::words;
use crate::garden::{Mention, OWN_TYPES, SYSTEM_EVENT};
use crate::parts;
use crate::search::{said, sort};

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
    let found_by = match item.kind.as_str() {
        _ if said.undone => None,
        SYSTEM_EVENT => said::of_item(SYSTEM_EVENT, &said.fields),
        kind if OWN_TYPES.contains(&kind) => None,
        kind => said::of_item(kind, &said.fields),
    };
    if let Some(text) = found_by {
        core.texts.put(core.ws, item.seq, sort::ITEM, text, false);
    }
    parts(tx, core, item)?;
    if let Some(answered) = said.replies_to {
        replied(tx, core, item, answered)?;
    }
    mentioned(tx, core, item, words(&said.fields).0, &said.mentions)?;
    counted(tx, core, item, &said.cited)
}

/// What was cited by a text that was taken back since.
pub fn counted(tx: &mut Tx<'_>, core: &Core, item: &Item, cites: &[Seq]) -> Result<()> {
    cites
        .iter()
        .try_for_each(|thing| cited(tx, core, *thing, item))
}

/// What an entity is found by, where no other surface says.
pub fn told(core: &mut Core, id: Id, data: &Map<String, Value>, again: bool) {
    core.texts
        .put(core.ws, id, sort::ENTITY, said::of_fields(data), again);
}

/// Whoever adds to the conversation in which they stand has seen it up to there.
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

/// Where the parts of a message are.
pub fn parts(tx: &mut Tx<'_>, core: &Core, item: &Item) -> Result<()> {
    let parts = parts::parts(item);
    let ids: Vec<&str> = parts.iter().map(|part| part.id.as_str()).collect();
    fragments::add(tx, core.ws, (item.seq, item.project), &ids)
}

/// What a message answers.
pub fn replied(tx: &mut Tx<'_>, core: &Core, item: &Item, answered: Seq) -> Result<()> {
    let said = Said::RepliesTo;
    let relation = Relation {
        made: item.seq,
        n: said.number(),
        kind: said.kind().to_string(),
        source: item.seq,
        source_type: "item".to_string(),
        target: answered,
        target_type: "item".to_string(),
        fragment: None,
        inferred: false,
        found: Default::default(),
        place: None,
        fossil: true,
        at: item.realized_at,
    };
    relations::put(tx, core.ws, &relation)
}

/// What a text refers to, as an index beside it.
pub fn mentioned(
    tx: &mut Tx<'_>,
    core: &Core,
    item: &Item,
    field: &str,
    mentions: &[Mention],
) -> Result<()> {
    let int = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    for (n, mention) in (1..).zip(mentions) {
        // What a commit cites beside its text stands nowhere in it.
        let (start, end) = mention.span;
        let place = (end > start).then(|| Place {
            field: field.to_string(),
            span: (int(start), int(end)),
            line: None,
        });
        let relation = Relation {
            made: item.seq,
            n,
            kind: MENTIONS.to_string(),
            source: item.seq,
            source_type: "item".to_string(),
            target: mention.target,
            target_type: mention.kind.clone(),
            fragment: mention.fragment.clone(),
            inferred: true,
            found: Found::Kept,
            place,
            fossil: false,
            at: item.realized_at,
        };
        relations::put(tx, core.ws, &relation)?;
        cited(tx, core, mention.target, item)?;
    }
    Ok(())
}

/// Something was cited: that strengthens its relations.
pub fn cited(tx: &mut Tx<'_>, core: &Core, thing: Id, item: &Item) -> Result<()> {
    let now = item.realized_at;
    let strength = match relations::touch(tx, core.ws, thing)? {
        Some((strength, at)) => fade::cited(strength, at, now),
        None => fade::ONE,
    };
    relations::put_touch(tx, core.ws, thing, strength, now)
}

/// Somebody related two things.
pub fn related(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    data: &Map<String, Value>,
) -> Result<()> {
    let text = |field: &str| data.get(field).and_then(Value::as_str).map(str::to_string);
    let id = |field: &str| data.get(field).and_then(Value::as_i64).unwrap_or_default();
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
    core.texts.remove(core.ws, target);
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
