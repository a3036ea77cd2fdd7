//! Who may read what: the one rule, for every path that shows anything.
//!
//! All of a workspace is open to all of it, but for its threads: what is said in a thread, and all
//! that tells of it, is read by its participants, its creator, an operator, an orchestrator and
//! an auditor. To everybody else it is as if it were not there (ADR 32). No other module decides
//! this; `names` asks here before it finds anything, and whatever lists things asks here for each.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::fact::Fact;
use understory_model::item::Item;
use understory_model::{Caller, Id, Role, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::relations::Relation;
use understory_storage::{ReadTx, items, threads};

use crate::kernel::names::Found;
use crate::kinds::{EntityKind, ItemKind};

/// Things that stand for other things are followed this far: a relation of relations.
const DEPTH: usize = 8;

/// Who reads something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Everyone,
    /// Those who read this thread.
    Thread(Id),
    /// Those who read both of these.
    Both(Id, Id),
    /// Those who read this.
    Like(Id),
    /// Those who read everything.
    Nobody,
}

/// A caller who reads, with what was found out about it in one call.
pub struct Reader<'c> {
    /// `None` reads everything.
    caller: Option<&'c Caller>,
    threads: HashMap<Id, bool>,
}

/// Whether a role reads all of its workspace.
pub fn reads_all(role: Role) -> bool {
    match role {
        Role::Operator | Role::Orchestrator | Role::Auditor => true,
        Role::Worker => false,
    }
}

impl<'c> Reader<'c> {
    pub fn new(caller: &'c Caller) -> Reader<'c> {
        Reader {
            caller: Some(caller).filter(|caller| !reads_all(caller.role)),
            threads: HashMap::new(),
        }
    }

    /// The server itself, for what is shown to nobody: the index of meanings.
    pub fn server() -> Reader<'c> {
        Reader {
            caller: None,
            threads: HashMap::new(),
        }
    }

    /// Whether a thread may be read.
    pub fn thread(&mut self, tx: &mut ReadTx<'_>, ws: Ws, thread: Id) -> Result<bool> {
        let Some(caller) = self.caller else {
            return Ok(true);
        };
        if let Some(known) = self.threads.get(&thread) {
            return Ok(*known);
        }
        let part = threads::participant(tx, ws, &caller.agent, thread)?;
        let may = part.is_some_and(|part| part.member);
        self.threads.insert(thread, may);
        Ok(may)
    }

    pub fn item(&mut self, tx: &mut ReadTx<'_>, ws: Ws, item: &Item) -> Result<bool> {
        self.item_within(tx, ws, item, DEPTH)
    }

    pub fn entity(&mut self, tx: &mut ReadTx<'_>, ws: Ws, entity: &Entity) -> Result<bool> {
        self.entity_within(tx, ws, entity, DEPTH)
    }

    /// Whether what has this number may be read: an entity, and the item that made it, or an item.
    pub fn at(&mut self, tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<bool> {
        self.at_within(tx, ws, id, DEPTH)
    }

    /// Whether a relation may be read: what says it, and both of its ends.
    pub fn relation(&mut self, tx: &mut ReadTx<'_>, ws: Ws, one: &Relation) -> Result<bool> {
        Ok(self.at(tx, ws, Id::of(one.made))?
            && self.at(tx, ws, one.source)?
            && self.at(tx, ws, one.target)?)
    }

    /// Whether what a name stands for may be read.
    pub fn found(&mut self, tx: &mut ReadTx<'_>, ws: Ws, found: &Found) -> Result<bool> {
        match found {
            Found::Item(item) => self.item(tx, ws, item),
            Found::Entity(entity) => self.entity(tx, ws, entity),
            Found::Relation(made, n) => {
                if self.caller.is_none() {
                    return Ok(true);
                }
                let one = crate::kernel::content::relation::one(tx, ws, *made, *n)?;
                match one {
                    Some(one) => self.relation(tx, ws, &one),
                    None => self.at(tx, ws, Id::of(*made)),
                }
            }
        }
    }

    /// Those of some numbers that may be read.
    pub fn those(&mut self, tx: &mut ReadTx<'_>, ws: Ws, mut ids: Vec<Id>) -> Result<Vec<Id>> {
        if self.caller.is_none() {
            return Ok(ids);
        }
        let mut kept = Vec::with_capacity(ids.len());
        for id in ids.drain(..) {
            if self.at(tx, ws, id)? {
                kept.push(id);
            }
        }
        Ok(kept)
    }

    fn item_within(
        &mut self,
        tx: &mut ReadTx<'_>,
        ws: Ws,
        item: &Item,
        depth: usize,
    ) -> Result<bool> {
        if self.caller.is_none() {
            return Ok(true);
        }
        let subject = of_item(tx, ws, item)?;
        self.may(tx, ws, subject, depth)
    }

    fn entity_within(
        &mut self,
        tx: &mut ReadTx<'_>,
        ws: Ws,
        entity: &Entity,
        depth: usize,
    ) -> Result<bool> {
        if self.caller.is_none() {
            return Ok(true);
        }
        let subject = of_entity(
            tx,
            ws,
            EntityKind::of(&entity.kind),
            entity.id,
            &entity.data,
        )?;
        self.may(tx, ws, subject, depth)
    }

    fn at_within(&mut self, tx: &mut ReadTx<'_>, ws: Ws, id: Id, depth: usize) -> Result<bool> {
        if self.caller.is_none() {
            return Ok(true);
        }
        if let Some(entity) = entities::get(tx, ws, id)? {
            return self.entity_within(tx, ws, &entity, depth);
        }
        match items::get(tx, ws, id.seq())? {
            Some(item) => self.item_within(tx, ws, &item, depth),
            None => Ok(false),
        }
    }

    fn may(&mut self, tx: &mut ReadTx<'_>, ws: Ws, subject: Subject, depth: usize) -> Result<bool> {
        let deeper = depth.checked_sub(1);
        match (subject, deeper) {
            (Subject::Everyone, _) => Ok(true),
            (Subject::Thread(thread), _) => self.thread(tx, ws, thread),
            (Subject::Like(id), Some(depth)) => self.at_within(tx, ws, id, depth),
            (Subject::Both(one, other), Some(depth)) => {
                Ok(self.at_within(tx, ws, one, depth)? && self.at_within(tx, ws, other, depth)?)
            }
            (Subject::Like(_) | Subject::Both(..), None) | (Subject::Nobody, _) => Ok(false),
        }
    }
}

/// Whether a caller may read an item.
pub fn may_read_item(tx: &mut ReadTx<'_>, ws: Ws, caller: &Caller, item: &Item) -> Result<bool> {
    Reader::new(caller).item(tx, ws, item)
}

/// Whether a caller may read an entity.
pub fn may_read_entity(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    caller: &Caller,
    entity: &Entity,
) -> Result<bool> {
    Reader::new(caller).entity(tx, ws, entity)
}

/// Who reads an item of each kind. There is no default on purpose.
fn of_item(tx: &mut ReadTx<'_>, ws: Ws, item: &Item) -> Result<Subject> {
    let thread = |entity: Option<Id>| entity.map_or(Subject::Nobody, Subject::Thread);
    Ok(match ItemKind::of(&item.kind) {
        ItemKind::EntityDelta => changed(tx, ws, item)?,
        ItemKind::Message if item.entity.is_some() => thread(item.entity),
        ItemKind::ReadAck => thread(item.entity),
        ItemKind::Undone => undone(item),
        ItemKind::Corrected => corrected(item),
        // Said in a conversation or written into a document: a project's own, which all may read.
        ItemKind::Message
        | ItemKind::Note
        | ItemKind::ToolCall
        | ItemKind::NoteEntry
        | ItemKind::GraphDelta
        | ItemKind::ArtifactCreated
        | ItemKind::ArtifactDelta => Subject::Everyone,
        // These say of agents and of the project where they stand, and hold nobody's words.
        ItemKind::SystemEvent
        | ItemKind::ChangesAck
        | ItemKind::Fossilized
        | ItemKind::FrameMoved
        | ItemKind::Purged => Subject::Everyone,
        // What was done with tokens, keys and logins is for those who look after the workspace.
        ItemKind::AuditEvent | ItemKind::TokenRevoked => Subject::Nobody,
        ItemKind::Callers(_) => Subject::Everyone,
        ItemKind::Unknown => Subject::Nobody,
    })
}

/// Who reads an entity of each kind. There is no default on purpose.
fn of_entity(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    kind: EntityKind<'_>,
    id: Id,
    data: &str,
) -> Result<Subject> {
    Ok(match kind {
        EntityKind::Thread => Subject::Thread(id),
        EntityKind::Wake => {
            let thread = threads::woken_for(tx, ws, id)?;
            thread.map_or(Subject::Nobody, Subject::Thread)
        }
        EntityKind::Relation => ends(data),
        EntityKind::Node
        | EntityKind::Project
        | EntityKind::Record
        | EntityKind::Session
        | EntityKind::Branch
        | EntityKind::Conflict
        | EntityKind::Log
        | EntityKind::Artifact
        | EntityKind::Proposal
        | EntityKind::Checkout => Subject::Everyone,
        EntityKind::Callers(_) => Subject::Everyone,
    })
}

/// A change is read by those who read what it changed.
fn changed(tx: &mut ReadTx<'_>, ws: Ws, item: &Item) -> Result<Subject> {
    #[derive(Deserialize)]
    struct Change {
        kind: String,
    }
    let text = item.content.as_deref().unwrap_or_default();
    let (Ok(change), Some(id)) = (serde_json::from_str::<Change>(text), item.entity) else {
        return Ok(Subject::Nobody);
    };
    let kind = EntityKind::of(&change.kind);
    let data = match kind {
        EntityKind::Relation => entities::get(tx, ws, id)?.map(|entity| entity.data),
        _ => None,
    };
    of_entity(tx, ws, kind, id, &data.unwrap_or_default())
}

/// A relation is read by those who read both of its ends.
fn ends(data: &str) -> Subject {
    let data: Map<String, Value> = serde_json::from_str(data).unwrap_or_default();
    let end = |name: &str| data.get(name).and_then(Value::as_i64).map(Id);
    match (end("source"), end("target")) {
        (Some(source), Some(target)) => Subject::Both(source, target),
        _ => Subject::Nobody,
    }
}

/// What a text was wrongly taken to mention is read by those who read the text.
fn corrected(item: &Item) -> Subject {
    match Fact::read(item) {
        Ok(Fact::Corrected(corrected)) => match corrected.wrong.first() {
            Some((made, _)) => Subject::Like(Id::of(*made)),
            None => Subject::Nobody,
        },
        _ => Subject::Nobody,
    }
}

/// That something was taken back is read by those who could read it.
fn undone(item: &Item) -> Subject {
    match Fact::read(item) {
        Ok(Fact::Undone(undone)) => Subject::Like(Id::of(undone.item)),
        _ => Subject::Nobody,
    }
}
