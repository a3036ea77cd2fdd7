//! Which surface an item belongs to, and whether it is worth seeing from afar: what a timeline counts
//! and colours by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::fact::Fact;
use understory_model::item::{EntityDelta, Item};
use understory_model::thread::{Event, WakeResult};

use crate::kernel::content::session_event::CONFLICT_DETECTED;
use crate::kinds::{EntityKind, ItemKind};

/// What an item is about, as the pages name it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    Work,
    Records,
    Reasoning,
    Conversations,
    Threads,
    Artifacts,
    /// Somebody looked, sought or ran something.
    Acts,
    /// What was said about other items: relations, corrections, what was taken back.
    Relations,
    /// Tokens, keys, logins, erasures.
    Care,
}

impl Surface {
    pub const ALL: [Surface; 9] = [
        Surface::Work,
        Surface::Records,
        Surface::Reasoning,
        Surface::Conversations,
        Surface::Threads,
        Surface::Artifacts,
        Surface::Acts,
        Surface::Relations,
        Surface::Care,
    ];

    /// Those whose items not everybody reads. Who does not read everything is not told how many of
    /// these there are.
    pub const NOT_FOR_ALL: [&'static str; 3] = ["threads", "relations", "care"];

    pub fn as_str(self) -> &'static str {
        match self {
            Surface::Work => "work",
            Surface::Records => "records",
            Surface::Reasoning => "reasoning",
            Surface::Conversations => "conversations",
            Surface::Threads => "threads",
            Surface::Artifacts => "artifacts",
            Surface::Acts => "acts",
            Surface::Relations => "relations",
            Surface::Care => "care",
        }
    }

    pub fn parse(text: &str) -> Option<Surface> {
        Surface::ALL.into_iter().find(|one| one.as_str() == text)
    }

    /// The surface of an item by its type, and by the kind of entity where it changes one. There is
    /// no default on purpose.
    pub fn of(kind: &str, entity: Option<&str>) -> Surface {
        match ItemKind::of(kind) {
            ItemKind::EntityDelta => match EntityKind::of(entity.unwrap_or_default()) {
                EntityKind::Node | EntityKind::Project => Surface::Work,
                EntityKind::Record => Surface::Records,
                EntityKind::Session => Surface::Acts,
                EntityKind::Branch | EntityKind::Conflict | EntityKind::Checkout => {
                    Surface::Reasoning
                }
                EntityKind::Thread | EntityKind::Wake => Surface::Threads,
                EntityKind::Relation => Surface::Relations,
                EntityKind::Artifact | EntityKind::Proposal => Surface::Artifacts,
                EntityKind::Log | EntityKind::Callers(_) => Surface::Conversations,
            },
            ItemKind::Message if entity.is_some() => Surface::Threads,
            ItemKind::ReadAck => Surface::Threads,
            ItemKind::NoteEntry | ItemKind::GraphDelta => Surface::Reasoning,
            ItemKind::Message | ItemKind::Note | ItemKind::FrameMoved | ItemKind::Callers(_) => {
                Surface::Conversations
            }
            ItemKind::ToolCall
            | ItemKind::SystemEvent
            | ItemKind::ChangesAck
            | ItemKind::Fossilized => Surface::Acts,
            ItemKind::ArtifactCreated | ItemKind::ArtifactDelta => Surface::Artifacts,
            ItemKind::Undone | ItemKind::Corrected => Surface::Relations,
            ItemKind::TokenRevoked | ItemKind::AuditEvent | ItemKind::Purged => Surface::Care,
            ItemKind::Unknown => Surface::Care,
        }
    }

    pub fn of_item(item: &Item, fact: &Fact) -> Surface {
        let entity = match fact {
            Fact::Entity(delta) => Some(delta.kind.as_str()),
            // A message of a thread, and not of a conversation.
            Fact::Message(_) => Some(crate::kinds::THREAD),
            _ => None,
        };
        Surface::of(&item.kind, entity)
    }
}

/// What an item says from afar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// It failed, or it cannot be true beside something else.
    Red,
    /// It waited for somebody.
    Amber,
}

impl Sign {
    pub const ALL: [Sign; 2] = [Sign::Red, Sign::Amber];

    pub fn as_str(self) -> &'static str {
        match self {
            Sign::Red => "red",
            Sign::Amber => "amber",
        }
    }
}

/// The sign of an item, and the surface on whose behalf it has it.
pub fn sign_of(fact: &Fact) -> Option<(Sign, Surface)> {
    match fact {
        Fact::Entity(delta) => of_change(delta),
        Fact::Message(said) => match said.event()? {
            Event::FindingReported => Some((Sign::Red, Surface::Threads)),
            Event::ThreadEscalated | Event::ReReviewRequested => {
                Some((Sign::Amber, Surface::Threads))
            }
            Event::FixPushed
            | Event::FindingVerified
            | Event::FindingRejected
            | Event::FindingWithdrawn
            | Event::ThreadResolved => None,
        },
        _ => None,
    }
}

fn of_change(delta: &EntityDelta) -> Option<(Sign, Surface)> {
    let made = delta.data.is_some();
    match EntityKind::of(&delta.kind) {
        EntityKind::Conflict if made => Some((Sign::Red, Surface::Reasoning)),
        EntityKind::Session if delta.action == CONFLICT_DETECTED => {
            Some((Sign::Red, Surface::Records))
        }
        EntityKind::Wake => {
            let failed = |change: &understory_model::delta::Change| {
                let after = change.after.as_ref().and_then(|after| after.as_str());
                change.field() == "result" && after == Some(WakeResult::Failed.as_str())
            };
            let failed = delta.changes.iter().any(failed);
            failed.then_some((Sign::Red, Surface::Threads))
        }
        EntityKind::Proposal if made => Some((Sign::Amber, Surface::Artifacts)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_surface_is_known_by_its_name() {
        for surface in Surface::ALL {
            assert_eq!(Surface::parse(surface.as_str()), Some(surface));
        }
        for name in Surface::NOT_FOR_ALL {
            assert!(Surface::parse(name).is_some(), "{name}");
        }
        assert_eq!(Surface::parse("graph"), None);
    }

    #[test]
    fn a_message_belongs_to_its_thread_or_to_a_conversation() {
        assert_eq!(Surface::of("Message", Some("thread")), Surface::Threads);
        assert_eq!(Surface::of("Message", None), Surface::Conversations);
        assert_eq!(Surface::of("EntityDelta", Some("node")), Surface::Work);
        assert_eq!(
            Surface::of("EntityDelta", Some("decision")),
            Surface::Conversations
        );
        assert_eq!(Surface::of("no such type", None), Surface::Care);
    }
}
