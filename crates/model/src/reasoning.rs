//! The closed sets of words of the reasoning surface, as they are stored and shown. Types and statuses
//! that callers choose themselves are not here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an entry of a document is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// Written into the document.
    Note,
    /// A change of the plan or task that the document belongs to.
    Event,
}

impl EntryKind {
    pub fn parse(name: &str) -> Option<EntryKind> {
        match name {
            "note" => Some(EntryKind::Note),
            "event" => Some(EntryKind::Event),
            _ => None,
        }
    }
}

/// What a graph document consists of.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum VertexKind {
    Node,
    Edge,
}

/// Whether a conflict is settled.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ConflictStatus {
    Open,
    Resolved,
}

impl ConflictStatus {
    /// In the order of the listing.
    pub const NAMES: [&str; 2] = ["open", "resolved"];

    pub fn name(self) -> &'static str {
        match self {
            ConflictStatus::Open => "open",
            ConflictStatus::Resolved => "resolved",
        }
    }

    pub fn parse(name: &str) -> Option<ConflictStatus> {
        match name {
            "open" => Some(ConflictStatus::Open),
            "resolved" => Some(ConflictStatus::Resolved),
            _ => None,
        }
    }
}

/// How a conflict was settled.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// The merged branch's version was written.
    UseFrom,
    /// The destination keeps its version.
    UseInto,
    /// The merged branch changed again, so the conflict was about an old version.
    Superseded,
    /// Both branches came to say the same.
    Agreed,
}

impl Resolution {
    /// Those that a caller can choose.
    pub const CHOICES: [&str; 2] = ["use_from", "use_into"];

    pub fn name(self) -> &'static str {
        match self {
            Resolution::UseFrom => "use_from",
            Resolution::UseInto => "use_into",
            Resolution::Superseded => "superseded",
            Resolution::Agreed => "agreed",
        }
    }

    pub fn parse(name: &str) -> Option<Resolution> {
        match name {
            "use_from" => Some(Resolution::UseFrom),
            "use_into" => Some(Resolution::UseInto),
            "superseded" => Some(Resolution::Superseded),
            "agreed" => Some(Resolution::Agreed),
            _ => None,
        }
    }
}

/// The types of card.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum CardType {
    Frame,
    Hypothesis,
    Question,
    Test,
    Evidence,
    Decision,
    Note,
    /// Says what became of other cards.
    Update,
}

impl CardType {
    pub const ALL: [CardType; 8] = [
        CardType::Frame,
        CardType::Hypothesis,
        CardType::Question,
        CardType::Test,
        CardType::Evidence,
        CardType::Decision,
        CardType::Note,
        CardType::Update,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            CardType::Frame => "frame",
            CardType::Hypothesis => "hypothesis",
            CardType::Question => "question",
            CardType::Test => "test",
            CardType::Evidence => "evidence",
            CardType::Decision => "decision",
            CardType::Note => "note",
            CardType::Update => "update",
        }
    }

    pub fn parse(name: &str) -> Option<CardType> {
        CardType::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_those_that_are_stored() {
        for kind in CardType::ALL {
            assert_eq!(json!(kind), json!(kind.name()));
            assert_eq!(CardType::parse(kind.name()), Some(kind));
        }
        for name in ["use_from", "use_into", "superseded", "agreed"] {
            let parsed = Resolution::parse(name).map(|resolution| json!(resolution));
            assert_eq!(parsed, Some(json!(name)));
        }
        for name in ConflictStatus::NAMES {
            let parsed = ConflictStatus::parse(name).map(|status| json!(status));
            assert_eq!(parsed, Some(json!(name)));
        }
        for name in ["note", "event"] {
            assert_eq!(
                EntryKind::parse(name).map(|kind| json!(kind)),
                Some(json!(name))
            );
        }
    }
}
