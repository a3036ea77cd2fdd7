//! Every kind of entity and of item that the engine writes, as a closed list.
//!
//! A write names its kind by these types and never by a text, so that a new kind cannot be written
//! before it stands here, and the compiler then leads to every place that has to decide about it:
//! who may read it, what follows from it, how it is told. Kinds that callers make up themselves are
//! one class: [`EntityKind::Callers`], [`ItemKind::Callers`]. A text from the log that is neither
//! is unknown, and nobody's to read.

// The kinds of entity, as the log spells them.
use crate::limits;

pub const NODE: &str = "node";
pub const PROJECT: &str = "project";
pub const RECORD: &str = "record";
pub const SESSION: &str = "session";
pub const BRANCH: &str = "branch";
pub const CONFLICT: &str = "conflict";
pub const THREAD: &str = "thread";
pub const WAKE: &str = "wake";
pub const LOG: &str = "log";
pub const RELATION: &str = "relation";
pub const ARTIFACT: &str = "artifact";
pub const PROPOSAL: &str = "proposal";
/// Says which branch is checked out.
pub const CHECKOUT: &str = "checkout";

// The kinds of item, as the log spells them.
/// Makes or changes an entity.
pub const ENTITY_DELTA: &str = "EntityDelta";
pub const MESSAGE: &str = "Message";
pub const READ_ACK: &str = "ReadAck";
pub const NOTE_ENTRY: &str = "NoteEntry";
pub const GRAPH_DELTA: &str = "GraphDelta";
pub const TOKEN_REVOKED: &str = "TokenRevoked";
pub const NOTE: &str = "Note";
pub const TOOL_CALL: &str = "ToolCall";
pub const SYSTEM_EVENT: &str = "SystemEvent";
pub const ARTIFACT_CREATED: &str = "ArtifactCreated";
pub const ARTIFACT_DELTA: &str = "ArtifactDelta";
/// Says that the content of an earlier item was taken back.
pub const UNDONE: &str = "Undone";
/// Says that an agent has dealt with changes up to a place.
pub const CHANGES_ACK: &str = "ChangesAck";
/// Says which relations moved between core and soil.
pub const FOSSILIZED: &str = "Fossilized";
/// Says that a person took back what texts were taken to mention.
pub const CORRECTED: &str = "Corrected";
/// Says where a participant now stands.
pub const FRAME_MOVED: &str = "FrameMoved";
pub const AUDIT_EVENT: &str = "AuditEvent";
pub const PURGED: &str = "Purged";

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityKind<'k> {
    Node,
    Project,
    Record,
    Session,
    Branch,
    Conflict,
    Thread,
    Wake,
    Log,
    Relation,
    Artifact,
    Proposal,
    Checkout,
    /// One that a caller made up (`garden_entity_create`).
    Callers(&'k str),
}

impl Default for EntityKind<'_> {
    fn default() -> Self {
        EntityKind::Callers("")
    }
}

impl<'k> EntityKind<'k> {
    pub const OWN: [EntityKind<'static>; 13] = [
        EntityKind::Node,
        EntityKind::Project,
        EntityKind::Record,
        EntityKind::Session,
        EntityKind::Branch,
        EntityKind::Conflict,
        EntityKind::Thread,
        EntityKind::Wake,
        EntityKind::Log,
        EntityKind::Relation,
        EntityKind::Artifact,
        EntityKind::Proposal,
        EntityKind::Checkout,
    ];

    pub fn as_str(self) -> &'k str {
        match self {
            EntityKind::Node => NODE,
            EntityKind::Project => PROJECT,
            EntityKind::Record => RECORD,
            EntityKind::Session => SESSION,
            EntityKind::Branch => BRANCH,
            EntityKind::Conflict => CONFLICT,
            EntityKind::Thread => THREAD,
            EntityKind::Wake => WAKE,
            EntityKind::Log => LOG,
            EntityKind::Relation => RELATION,
            EntityKind::Artifact => ARTIFACT,
            EntityKind::Proposal => PROPOSAL,
            EntityKind::Checkout => CHECKOUT,
            EntityKind::Callers(name) => name,
        }
    }

    /// The kind that a text of the store names. Callers cannot take the name of one of the server's
    /// kinds, so that every other text is a caller's.
    pub fn of(text: &'k str) -> EntityKind<'k> {
        let own = EntityKind::OWN
            .into_iter()
            .find(|kind| kind.as_str() == text);
        own.unwrap_or(EntityKind::Callers(text))
    }

    /// Whether it belongs to a surface's own tools.
    pub fn is_own(self) -> bool {
        !matches!(self, EntityKind::Callers(_))
    }
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind<'k> {
    EntityDelta,
    /// A message of a thread where it is about an entity, else one of a conversation.
    Message,
    ReadAck,
    NoteEntry,
    GraphDelta,
    TokenRevoked,
    Note,
    ToolCall,
    SystemEvent,
    ArtifactCreated,
    ArtifactDelta,
    Undone,
    ChangesAck,
    Fossilized,
    Corrected,
    FrameMoved,
    AuditEvent,
    Purged,
    /// One that a caller made up (`garden_add`): a name in CamelCase.
    Callers(&'k str),
    /// None of these: written by a later version, or damaged.
    Unknown,
}

impl Default for ItemKind<'_> {
    fn default() -> Self {
        ItemKind::Callers("")
    }
}

impl<'k> ItemKind<'k> {
    pub const OWN: [ItemKind<'static>; 18] = [
        ItemKind::EntityDelta,
        ItemKind::Message,
        ItemKind::ReadAck,
        ItemKind::NoteEntry,
        ItemKind::GraphDelta,
        ItemKind::TokenRevoked,
        ItemKind::Note,
        ItemKind::ToolCall,
        ItemKind::SystemEvent,
        ItemKind::ArtifactCreated,
        ItemKind::ArtifactDelta,
        ItemKind::Undone,
        ItemKind::ChangesAck,
        ItemKind::Fossilized,
        ItemKind::Corrected,
        ItemKind::FrameMoved,
        ItemKind::AuditEvent,
        ItemKind::Purged,
    ];

    pub fn as_str(self) -> &'k str {
        match self {
            ItemKind::EntityDelta => ENTITY_DELTA,
            ItemKind::Message => MESSAGE,
            ItemKind::ReadAck => READ_ACK,
            ItemKind::NoteEntry => NOTE_ENTRY,
            ItemKind::GraphDelta => GRAPH_DELTA,
            ItemKind::TokenRevoked => TOKEN_REVOKED,
            ItemKind::Note => NOTE,
            ItemKind::ToolCall => TOOL_CALL,
            ItemKind::SystemEvent => SYSTEM_EVENT,
            ItemKind::ArtifactCreated => ARTIFACT_CREATED,
            ItemKind::ArtifactDelta => ARTIFACT_DELTA,
            ItemKind::Undone => UNDONE,
            ItemKind::ChangesAck => CHANGES_ACK,
            ItemKind::Fossilized => FOSSILIZED,
            ItemKind::Corrected => CORRECTED,
            ItemKind::FrameMoved => FRAME_MOVED,
            ItemKind::AuditEvent => AUDIT_EVENT,
            ItemKind::Purged => PURGED,
            ItemKind::Callers(name) => name,
            ItemKind::Unknown => "",
        }
    }

    /// Whether the server alone writes items of this kind.
    pub fn is_servers(self) -> bool {
        match self {
            ItemKind::EntityDelta
            | ItemKind::ReadAck
            | ItemKind::NoteEntry
            | ItemKind::GraphDelta
            | ItemKind::TokenRevoked
            | ItemKind::SystemEvent
            | ItemKind::ArtifactCreated
            | ItemKind::ArtifactDelta
            | ItemKind::Undone
            | ItemKind::ChangesAck
            | ItemKind::Fossilized
            | ItemKind::Corrected
            | ItemKind::FrameMoved
            | ItemKind::AuditEvent
            | ItemKind::Purged => true,
            ItemKind::Message
            | ItemKind::Note
            | ItemKind::ToolCall
            | ItemKind::Callers(_)
            | ItemKind::Unknown => false,
        }
    }

    /// The kind that a text of the log names.
    pub fn of(text: &'k str) -> ItemKind<'k> {
        let own = ItemKind::OWN.into_iter().find(|kind| kind.as_str() == text);
        match own {
            Some(kind) => kind,
            None if is_callers_type(text) => ItemKind::Callers(text),
            None => ItemKind::Unknown,
        }
    }
}

/// Whether a text may name a type of a caller's own: CamelCase.
pub fn is_callers_type(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_uppercase())
        && letters.all(|letter| letter.is_ascii_alphanumeric())
        && text.len() <= limits::TYPE_CHARS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_known_by_its_name() {
        for kind in EntityKind::OWN {
            assert_eq!(EntityKind::of(kind.as_str()), kind);
        }
        for kind in ItemKind::OWN {
            assert_eq!(ItemKind::of(kind.as_str()), kind);
        }
        assert!(EntityKind::Checkout.is_own() && !EntityKind::Callers("x").is_own());
        assert!(ItemKind::Purged.is_servers() && !ItemKind::Note.is_servers());
        assert_eq!(EntityKind::of("decision"), EntityKind::Callers("decision"));
        assert_eq!(ItemKind::of("Deployed"), ItemKind::Callers("Deployed"));
        for unknown in ["", "deployed", "Thread.Secret", "Ünlike"] {
            assert_eq!(ItemKind::of(unknown), ItemKind::Unknown, "{unknown}");
        }
    }
}
