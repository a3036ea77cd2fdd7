//! From an item to core: the one function that both a write and a replay go through.
//!
//! It depends on the item and on core as the items before left it, and on nothing else; that is
//! why core can be dropped and made again.

use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::fact::{Fact, damaged};
use understory_model::item::{EntityDelta, Item};
use understory_model::{Id, delta};
use understory_storage::Tx;
use understory_storage::entities::Entity;
use understory_storage::projects::Project;
use understory_storage::texts::Text;

use crate::garden::projection as garden;
use crate::garden::projection::{artifact, conversation};
use crate::graph::projection as node;
use crate::kernel::content::relation::REVERTED;
use crate::kernel::core::{Core, Thing};
use crate::kernel::search::sort;
use crate::kernel::surface::{Surface, sign_of};
use crate::kernel::{credentials, revoked};
use crate::kinds::{ARTIFACT_DELTA, EntityKind};
use crate::reasoning::projection as reasoning;
use crate::records::projection as record;
use crate::records::projection::session;
use crate::threads::projection as thread;

/// Applies one item of the log to core.
pub fn replay(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<()> {
    apply(tx, core, item, &Fact::read(item)?)
}

/// Applies what an item says to core. There is no default on purpose.
pub fn apply(tx: &mut Tx<'_>, core: &mut Core, item: &Item, fact: &Fact) -> Result<()> {
    credentials::noticed(tx, core, item)?;
    core.texts.at = item.seq;
    core.seen.count(item, Surface::of_item(item, fact));
    if let Some(sign) = sign_of(fact) {
        core.seen.sign(item, sign);
    }
    match fact {
        Fact::Entity(delta) => entity(tx, core, item, delta),
        Fact::NoteEntry(entry) => reasoning::entry(tx, core, item, entry),
        Fact::GraphDelta(delta) => reasoning::vertex(tx, core, item, delta),
        Fact::Message(said) => thread::message(tx, core, item, said),
        Fact::ReadAck(ack) => thread::read(tx, core, item, ack),
        Fact::FrameMoved(moved) => conversation::moved(tx, core, item, moved),
        Fact::Undone(undone) => garden::undone(tx, core, undone),
        Fact::Fossilized(moved) => garden::fossilized(tx, core, moved),
        Fact::Corrected(corrected) => garden::corrected(tx, core, corrected),
        Fact::ChangesAck(ack) => garden::dealt_with(tx, core, item, ack),
        Fact::TokenRevoked(revoked) => revoked::apply(tx, core.ws, item, revoked),
        Fact::Said(said) => {
            if said.kind == ARTIFACT_DELTA {
                artifact::delta(tx, core, item, &said.content)?;
            }
            garden::added(tx, core, item, said)
        }
        // A purge changed what remains of others, which is replayed in their places; from the rest
        // nothing follows.
        Fact::Purged(_) | Fact::Audit(_) | Fact::Opaque => Ok(()),
    }
}

/// Applies a change of an entity to core. There is no default here either.
fn entity(tx: &mut Tx<'_>, core: &mut Core, item: &Item, delta: &EntityDelta) -> Result<()> {
    let id = item
        .entity
        .ok_or_else(|| damaged(item, "it names no entity"))?;
    if let Some(data) = &delta.data {
        core.took_handle(tx, &delta.handle)?;
        core.add_thing(first_version(item, id, delta, data));
        match EntityKind::of(&delta.kind) {
            EntityKind::Node => node::made(tx, core, item, delta, data)?,
            EntityKind::Record => record::made(tx, core, item, delta, data)?,
            EntityKind::Session => session::made(tx, core, item, data)?,
            EntityKind::Branch => reasoning::branch_made(tx, core, item, data)?,
            EntityKind::Conflict => reasoning::conflict(tx, core, item, data)?,
            EntityKind::Thread => thread::made(tx, core, item, data)?,
            EntityKind::Wake => thread::wake(tx, core, item, data)?,
            EntityKind::Log => conversation::made(tx, core, item, delta)?,
            EntityKind::Relation => garden::related(tx, core, item, data)?,
            EntityKind::Artifact => {
                artifact::made(tx, core, item, data)?;
                other(tx, core, id, delta)?;
            }
            EntityKind::Project => core.add_project(Project {
                id,
                updated: item.realized_at,
                ..Project::default()
            }),
            EntityKind::Proposal | EntityKind::Checkout | EntityKind::Callers(_) => {
                other(tx, core, id, delta)?;
            }
        }
        return Ok(());
    }
    let before = next_version(tx, core, item, id, delta)?;
    reasoned(core, item, delta);
    match EntityKind::of(&delta.kind) {
        EntityKind::Node => node::changed(tx, core, item, delta, &before),
        EntityKind::Record => record::changed(tx, core, item, delta, &before),
        EntityKind::Session => session::changed(tx, core, item, delta),
        EntityKind::Conflict => {
            let data = core.thing(tx, id)?.map(|thing| thing.data.clone());
            reasoning::conflict(tx, core, item, &data.unwrap_or_default())
        }
        EntityKind::Thread => thread::changed(tx, core, item, &before),
        EntityKind::Log => conversation::changed(tx, core, item),
        EntityKind::Artifact => {
            artifact::changed(tx, core, item)?;
            other(tx, core, id, delta)
        }
        EntityKind::Relation if delta.gone.is_some() => garden::unrelated(tx, core, id.seq()),
        EntityKind::Wake => {
            let data = core.thing(tx, id)?.map(|thing| thing.data.clone());
            thread::wake(tx, core, item, &data.unwrap_or_default())
        }
        EntityKind::Relation
        | EntityKind::Project
        | EntityKind::Branch
        | EntityKind::Proposal
        | EntityKind::Checkout
        | EntityKind::Callers(_) => other(tx, core, id, delta),
    }
}

/// Why a thing was changed is found like what it says; what the server gives as a reason is not.
fn reasoned(core: &mut Core, item: &Item, delta: &EntityDelta) {
    let why = delta.reason.as_deref().filter(|_| delta.action != REVERTED);
    if let Some(why) = why.filter(|why| !why.trim().is_empty()) {
        let text = Text {
            body: why.to_string(),
            ..Text::default()
        };
        core.texts
            .put(core.ws, Id::of(item.seq), sort::REASON, text, false);
    }
}

/// An entity of which core has only its links and its text index.
fn other(tx: &mut Tx<'_>, core: &mut Core, id: Id, delta: &EntityDelta) -> Result<()> {
    for link in &delta.links {
        if link.remove {
            core.remove_link(tx, id, &link.relation, link.to.id)?
        } else {
            core.add_link(id, &link.relation, link.to.id)
        }
    }
    if EntityKind::of(&delta.kind).is_own() {
        return Ok(());
    }
    match core.thing(tx, id)?.map(|thing| thing.data.clone()) {
        Some(data) if delta.gone.is_none() => garden::told(core, id, &data, delta.data.is_none()),
        _ => core.texts.remove(core.ws, id),
    }
    Ok(())
}

fn first_version(item: &Item, id: Id, delta: &EntityDelta, data: &Map<String, Value>) -> Thing {
    let entity = Entity {
        id,
        kind: delta.kind.clone(),
        handle: delta.handle.clone(),
        project: item.project,
        parent: delta
            .place
            .as_ref()
            .and_then(|p| p.to.as_ref())
            .map(|to| to.id),
        version: delta.version,
        hash: delta.commit.clone(),
        previous_hash: delta.parent.clone(),
        created_at: item.realized_at,
        updated_at: item.realized_at,
        created_by: item.actor.clone(),
        gone: false,
        data: String::new(),
    };
    Thing {
        entity,
        data: data.clone(),
    }
}

/// Moves an entity on by one version and gives back its value before.
pub fn next_version(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    id: Id,
    delta: &EntityDelta,
) -> Result<Map<String, Value>> {
    let thing = core
        .thing(tx, id)?
        .ok_or_else(|| damaged(item, "its entity was never made"))?;
    if thing.entity.version + 1 != delta.version
        || delta.parent.as_ref() != Some(&thing.entity.hash)
    {
        return Err(damaged(item, "it does not follow its entity's version"));
    }
    let before = thing.data.clone();
    delta::apply(&mut thing.data, &delta.changes)?;
    thing.entity.version = delta.version;
    thing.entity.previous_hash = delta.parent.clone();
    thing.entity.hash.clone_from(&delta.commit);
    thing.entity.updated_at = item.realized_at;
    if let Some(place) = &delta.place {
        thing.entity.parent = place.to.as_ref().map(|to| to.id);
    }
    if delta.gone.is_some() {
        thing.entity.gone = true;
        thing.entity.parent = None;
    }
    core.changed_thing(id);
    Ok(before)
}
