//! One item in a line: what it did, to what, and what it says.

use serde_json::Value;
use understory_model::Id;
use understory_model::fact::{Fact, Said};
use understory_model::id::{item_name, message_name};
use understory_model::item::{EntityDelta, Item};

use super::{Entry, Known, audit, fold, told};
use crate::kernel::content::artifact_delta::Delta;
use crate::kernel::content::call::{Call, Told};
use crate::kernel::content::event::Event;
use crate::kernel::titles::log_name;
use crate::kinds::{EntityKind, ItemKind};

/// An item in a line; what is known beside it gives names to what it names by number. There is no
/// default on purpose.
pub fn entry(item: &Item, known: &Known) -> Entry {
    let bare = Entry {
        seq: item.seq,
        at: item.realized_at.to_string(),
        actor: item.actor.clone(),
        session: item.session.clone(),
        kind: item.kind.clone(),
        item: item_name(&item.uuid),
        action: None,
        handle: None,
        name: None,
        about: None,
        branch: None,
        doc: None,
        commit: None,
        reasoning: None,
        text: String::new(),
    };
    let Ok(fact) = Fact::read(item) else {
        return bare;
    };
    match fact {
        Fact::Entity(delta) => changed(item, *delta, bare, known),
        Fact::Message(said) => Entry {
            handle: Some(message_name(item.seq)),
            about: Some(said.thread.clone()),
            ..bare.done("posted", told::of_message(&said))
        },
        Fact::ReadAck(ack) => Entry {
            handle: Some(ack.thread),
            ..bare.done("read", format!("up to message {}", ack.n))
        },
        Fact::NoteEntry(note) => {
            let text = told::of_note(&note);
            Entry {
                branch: Some(note.branch),
                doc: Some(note.doc),
                ..bare.done("noted", text)
            }
        }
        Fact::GraphDelta(vertex) => {
            let action = if vertex.deleted {
                "deleted"
            } else {
                "upserted"
            };
            let text = told::of_vertex(&vertex);
            Entry {
                branch: Some(vertex.branch),
                doc: Some(vertex.doc),
                ..bare.done(action, text)
            }
        }
        Fact::TokenRevoked(revoked) => {
            let text = format!("{} {}", revoked.kind.as_str(), revoked.name);
            bare.done("revoked", text)
        }
        Fact::Audit(event) => {
            let (action, text) = audit::told(*event);
            bare.done(action, text)
        }
        Fact::Purged(purged) => bare.done("purged", audit::purge_told(&purged)),
        Fact::Undone(undone) => bare.done("undone", told::of_undone(&undone, known)),
        Fact::ChangesAck(_) => bare.done("acknowledged", "changes that it was told".to_string()),
        Fact::Fossilized(moved) => bare.done("fossilized", told::of_fossils(&moved)),
        Fact::Corrected(_) => bare.done("corrected", "what texts mention".to_string()),
        Fact::FrameMoved(moved) => bare.done("moved", told::of_frame(item, &moved, known)),
        Fact::Said(said) => match ItemKind::of(&item.kind) {
            ItemKind::ArtifactCreated | ItemKind::ArtifactDelta => {
                of_artifact(item, &said, bare, known)
            }
            _ => in_conversation(item, &said, bare),
        },
        Fact::Opaque => bare,
    }
}

impl Entry {
    /// The same, with what was done and what it says.
    fn done(self, action: &str, text: String) -> Entry {
        Entry {
            action: Some(action.to_string()),
            text,
            ..self
        }
    }
}

/// What was added to a conversation.
fn in_conversation(item: &Item, said: &Said, bare: Entry) -> Entry {
    let (kind, fields) = (ItemKind::of(&item.kind), &said.content.fields);
    if said.content.undone {
        return bare.done("undone", String::new());
    }
    // A look at an artifact is told as what it is.
    if let Some(call) = Call::of(fields).filter(|_| kind == ItemKind::ToolCall) {
        let Told {
            action,
            handle,
            text,
        } = call.told();
        let context = fields.get("context").and_then(Value::as_str);
        return Entry {
            action: Some(action.to_string()),
            handle,
            text: told::short(&told::because(text, context)),
            reasoning: call.reasoning().map(str::to_string),
            ..bare
        };
    }
    let action = match kind {
        ItemKind::Message => "said",
        ItemKind::Note => "noted",
        ItemKind::ToolCall => "called",
        ItemKind::SystemEvent => "reported",
        _ => "added",
    };
    let text = match Event::of(fields).filter(|_| kind == ItemKind::SystemEvent) {
        Some(event) => {
            let payload = fields.get("payload").unwrap_or(&Value::Null);
            told::short(&event.told(payload))
        }
        None => told::of_item(&item.kind, fields),
    };
    bare.done(action, text)
}

/// What became of an artifact.
fn of_artifact(item: &Item, said: &Said, bare: Entry, known: &Known) -> Entry {
    let Some(delta) = Delta::said(&said.content) else {
        let label = said.content.fields.get("label").and_then(Value::as_str);
        return Entry {
            action: Some("created".to_string()),
            handle: label.map(str::to_string),
            ..bare
        };
    };
    let created = fold::is_first(item, &delta);
    Entry {
        action: Some(told::committed(&delta, created).to_string()),
        text: told::of_commit(item, &delta, known),
        handle: Some(delta.label),
        commit: Some(delta.commit.chars().take(12).collect()),
        reasoning: delta.reasoning.filter(|why| !why.trim().is_empty()),
        ..bare
    }
}

/// A change of an entity.
fn changed(item: &Item, delta: EntityDelta, bare: Entry, known: &Known) -> Entry {
    let name = known.name(item.entity).map(str::to_string);
    // An artifact is called by its label everywhere.
    let handle = match (&name, EntityKind::of(&delta.kind)) {
        (Some(label), EntityKind::Artifact) => label.clone(),
        (_, EntityKind::Log) => conversation(item, &delta.handle),
        _ => delta.handle.clone(),
    };
    Entry {
        text: told::told(&delta, known),
        name: name.filter(|name| *name != handle),
        about: delta.about.map(|about| about.handle),
        action: Some(delta.action),
        handle: Some(handle),
        ..bare
    }
}

/// A conversation is called `uuid_…` everywhere. Its handle has the same uuid, except that of a
/// project's first one, which changes only by being made.
fn conversation(item: &Item, handle: &str) -> String {
    match handle.strip_prefix("entity_") {
        Some(uuid) => format!("uuid_{uuid}"),
        None if item.entity == Some(Id::of(item.seq)) => log_name(&item.uuid),
        None => handle.to_string(),
    }
}
