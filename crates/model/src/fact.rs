//! What an item of the log says: one type for everything that is ever appended.
//!
//! A write hands its fact to the log and to core as it is; a replay reads it back from the item and
//! applies it in the same way. Fields are declared in the order in which the log writes them, which
//! is alphabetical but for [`EntityDelta`] and [`Content`]: what was written never changes its
//! bytes, and what is written now has the same form. `tests/facts.rs` holds one item of each kind.

mod audit;
mod content;
mod marks;
mod message;
mod reasoning;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use audit::{AuditEvent, Break, Token, TokenReason};
pub use content::{Content, Mention};
pub use marks::{
    ChangesAck, Corrected, Fossilized, Frame, FrameMoved, FrameNames, Purged, ReadAck, Revoked,
    TokenRevoked, Undone,
};
pub use message::Message;
pub use reasoning::{GraphDelta, NoteEntry};

use crate::error::{Code, Fault, Result};
use crate::item::{EntityDelta, Item};
use crate::kind::ItemKind;

/// What an item says.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// An entity was made or changed.
    Entity(Box<EntityDelta>),
    /// Somebody wrote to a thread.
    Message(Box<Message>),
    ReadAck(ReadAck),
    NoteEntry(Box<NoteEntry>),
    GraphDelta(Box<GraphDelta>),
    TokenRevoked(TokenRevoked),
    Undone(Undone),
    ChangesAck(ChangesAck),
    Fossilized(Fossilized),
    Corrected(Corrected),
    FrameMoved(FrameMoved),
    Audit(Box<AuditEvent>),
    Purged(Purged),
    /// An item of a conversation: what was said, noted, called, reported, committed, or what a
    /// caller's own type holds.
    Said(Said),
    /// What this version cannot read, and from which nothing follows.
    Opaque,
}

/// An item of a conversation and its type.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub kind: String,
    pub content: Content,
}

impl Fact {
    /// What an item says. A kind that this version does not know is [`Fact::Opaque`], and so is an
    /// item that cannot be read where nothing follows from it; elsewhere that is damage.
    pub fn read(item: &Item) -> Result<Fact> {
        Ok(match ItemKind::of(&item.kind) {
            ItemKind::EntityDelta => Fact::Entity(parse(item)?),
            ItemKind::Message if item.entity.is_some() => Fact::Message(parse(item)?),
            ItemKind::ReadAck => Fact::ReadAck(parse(item)?),
            ItemKind::NoteEntry => Fact::NoteEntry(parse(item)?),
            ItemKind::GraphDelta => Fact::GraphDelta(parse(item)?),
            ItemKind::TokenRevoked => Fact::TokenRevoked(parse(item)?),
            ItemKind::Undone => Fact::Undone(parse(item)?),
            ItemKind::ChangesAck => Fact::ChangesAck(parse(item)?),
            ItemKind::Fossilized => Fact::Fossilized(parse(item)?),
            ItemKind::Corrected => Fact::Corrected(parse(item)?),
            ItemKind::FrameMoved => Fact::FrameMoved(parse(item)?),
            // Nothing follows from these, and a later version may know more of them.
            ItemKind::AuditEvent => parse(item).map_or(Fact::Opaque, Fact::Audit),
            ItemKind::Purged => parse(item).map_or(Fact::Opaque, Fact::Purged),
            ItemKind::ArtifactDelta => Fact::Said(Said {
                kind: item.kind.clone(),
                content: parse(item)?,
            }),
            ItemKind::Message
            | ItemKind::Note
            | ItemKind::ToolCall
            | ItemKind::SystemEvent
            | ItemKind::ArtifactCreated
            | ItemKind::Callers(_) => match parse(item) {
                Ok(content) => Fact::Said(Said {
                    kind: item.kind.clone(),
                    content,
                }),
                Err(_) => Fact::Opaque,
            },
            ItemKind::Unknown => Fact::Opaque,
        })
    }

    /// The type of the item that says it.
    pub fn kind(&self) -> ItemKind<'_> {
        match self {
            Fact::Entity(_) => ItemKind::EntityDelta,
            Fact::Message(_) => ItemKind::Message,
            Fact::ReadAck(_) => ItemKind::ReadAck,
            Fact::NoteEntry(_) => ItemKind::NoteEntry,
            Fact::GraphDelta(_) => ItemKind::GraphDelta,
            Fact::TokenRevoked(_) => ItemKind::TokenRevoked,
            Fact::Undone(_) => ItemKind::Undone,
            Fact::ChangesAck(_) => ItemKind::ChangesAck,
            Fact::Fossilized(_) => ItemKind::Fossilized,
            Fact::Corrected(_) => ItemKind::Corrected,
            Fact::FrameMoved(_) => ItemKind::FrameMoved,
            Fact::Audit(_) => ItemKind::AuditEvent,
            Fact::Purged(_) => ItemKind::Purged,
            Fact::Said(said) => ItemKind::of(&said.kind),
            Fact::Opaque => ItemKind::Unknown,
        }
    }

    /// The content of the item that says it.
    pub fn content(&self) -> Result<String> {
        match self {
            Fact::Entity(fact) => json(fact),
            Fact::Message(fact) => json(fact),
            Fact::ReadAck(fact) => json(fact),
            Fact::NoteEntry(fact) => json(fact),
            Fact::GraphDelta(fact) => json(fact),
            Fact::TokenRevoked(fact) => json(fact),
            Fact::Undone(fact) => json(fact),
            Fact::ChangesAck(fact) => json(fact),
            Fact::Fossilized(fact) => json(fact),
            Fact::Corrected(fact) => json(fact),
            Fact::FrameMoved(fact) => json(fact),
            // Its variants share fields, which a value sorts.
            Fact::Audit(fact) => json(&serde_json::to_value(fact).map_err(|_| unwritable())?),
            Fact::Purged(fact) => json(fact),
            Fact::Said(said) => json(&said.content),
            Fact::Opaque => Err(unwritable()),
        }
    }
}

fn json<T: Serialize>(fact: &T) -> Result<String> {
    serde_json::to_string(fact).map_err(|_| unwritable())
}

fn unwritable() -> Fault {
    Fault::new(Code::Internal, "an item could not be written as JSON")
}

fn parse<T: DeserializeOwned>(item: &Item) -> Result<T> {
    let content = item
        .content
        .as_deref()
        .ok_or_else(|| damaged(item, "its content was erased"))?;
    serde_json::from_str(content).map_err(|error| {
        let problem = if error.is_data() {
            "its content does not have the form of its kind"
        } else {
            "its content cannot be read"
        };
        damaged(item, problem)
    })
}

/// The fault for an item that cannot be applied.
pub fn damaged(item: &Item, why: &str) -> Fault {
    Fault::new(
        Code::StoreCorrupt,
        format!("item {} cannot be replayed: {why}", item.seq),
    )
    .hint("Run `understory verify` to see where the log was changed.")
}
