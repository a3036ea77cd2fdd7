//! Items, the immutable facts of a workspace's log, and the chain that proves them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::canon::sha256;
use crate::delta::Change;
use crate::id::{Id, Seq};
use crate::time::Time;

pub use crate::kind::ENTITY_DELTA;

/// A digest or a link of the chain.
pub type Hash = [u8; 32];

/// A fact as it stands in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub seq: Seq,
    pub uuid: Uuid,
    pub kind: String,
    pub project: Option<Id>,
    pub entity: Option<Id>,
    pub realized_at: Time,
    pub canonical_at: Time,
    pub actor: String,
    pub session: String,
    pub cause: Option<Seq>,
    pub digest: Hash,
    pub chain: Hash,
    /// `None` once it was erased; the digest still stands for it.
    pub content: Option<String>,
}

impl Item {
    /// The link of the chain that this item must have after `previous`: it covers every column.
    pub fn expected_chain(&self, previous: &Hash) -> Hash {
        let mut bytes = Vec::with_capacity(320);
        bytes.extend_from_slice(b"understory.item.1");
        bytes.extend_from_slice(previous);
        for number in [
            self.seq.0,
            self.project.unwrap_or_default().0,
            self.entity.unwrap_or_default().0,
            self.realized_at.0,
            self.canonical_at.0,
            self.cause.unwrap_or_default().0,
        ] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(self.uuid.as_bytes());
        for text in [&self.kind, &self.actor, &self.session] {
            bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes.extend_from_slice(&self.digest);
        sha256(&bytes)
    }
}

/// What the first item of a workspace is chained to.
pub fn genesis(workspace: &str) -> Hash {
    sha256(format!("understory.workspace.1|{workspace}").as_bytes())
}

/// The content of an [`ENTITY_DELTA`]: everything that core needs to make or change one entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityDelta {
    /// `node`, `project`, …
    pub kind: String,
    pub handle: String,
    pub version: i64,
    /// The entity's hash after this change.
    pub commit: String,
    /// Its hash before, none at first.
    #[serde(default)]
    pub parent: Option<String>,
    /// The surface's word for what was done: `created`, `resolved`, `moved`, …
    pub action: String,
    /// The first value; later ones are `changes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Its new place in the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkChange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The other entity that this is about: the record that a session activates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Named>,
    /// What the project's tick became by this change, if it spends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<i64>,
    /// What else is worth keeping of the event and is not a value of the entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// What the answer that this item belongs to showed the session that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    /// Set when the entity is gone from every view but history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<Gone>,
}

/// What an answer showed a session. What the session has seen follows from this alone, so that a
/// replay knows it too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Records that it has now seen whole, each in which version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Seen>,
    /// Records that it works on, and the item up to which it was told of their changes. Only where
    /// the sync did not tell everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
    /// Where a sync stopped that did not tell everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

/// A record in the version in which it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    pub id: Id,
    pub version: i64,
}

/// A record, and the item up to which its changes were told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    pub id: Id,
    pub upto: Seq,
}

/// Where a sync stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// The item up to which everything was told, now or earlier.
    pub synced: Seq,
    /// The project's tick there.
    pub tick: i64,
    /// How many of the project's changes the session knows now, its own since then not counted.
    pub changes: i64,
    /// Of the project's ticks after that, the session's own.
    #[serde(default)]
    pub own_ticks: i64,
}

/// A move in the tree, by id and, for readers of history, by handle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Named>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Named>,
}

/// An entity named both ways.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Named {
    pub id: Id,
    pub handle: String,
}

/// A link that leaves the entity, added or taken away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkChange {
    pub relation: String,
    pub to: Named,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
}

/// Why an entity is gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gone {
    /// The entity that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<Named>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> Item {
        Item {
            seq: Seq(1),
            uuid: Uuid::from_u128(1),
            kind: "Note".into(),
            project: None,
            entity: None,
            realized_at: Time(5),
            canonical_at: Time(5),
            actor: "ada".into(),
            session: "s".into(),
            cause: None,
            digest: sha256(b"{}"),
            chain: [0; 32],
            content: Some("{}".into()),
        }
    }

    #[test]
    fn every_column_is_under_the_chain() {
        let start = genesis("w");
        let whole = item().expected_chain(&start);
        let changes: Vec<fn(&mut Item)> = vec![
            |i| i.seq = Seq(2),
            |i| i.uuid = Uuid::from_u128(2),
            |i| i.kind = "Message".into(),
            |i| i.project = Some(Id(1)),
            |i| i.entity = Some(Id(1)),
            |i| i.realized_at = Time(6),
            |i| i.canonical_at = Time(6),
            |i| i.actor = "bob".into(),
            |i| i.session = "t".into(),
            |i| i.cause = Some(Seq(1)),
            |i| i.digest = sha256(b"[]"),
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut other = item();
            change(&mut other);
            assert_ne!(
                other.expected_chain(&start),
                whole,
                "column {at} is not covered"
            );
        }
        assert_ne!(item().expected_chain(&genesis("v")), whole);
    }

    #[test]
    fn neighbouring_texts_cannot_trade_characters() {
        let (mut a, mut b) = (item(), item());
        (a.actor, a.session) = ("ab".into(), "c".into());
        (b.actor, b.session) = ("a".into(), "bc".into());
        assert_ne!(a.expected_chain(&[0; 32]), b.expected_chain(&[0; 32]));
    }

    #[test]
    fn a_delta_survives_its_json() {
        let delta = EntityDelta {
            kind: "node".into(),
            handle: "TASK-001".into(),
            version: 2,
            commit: "c".into(),
            parent: Some("p".into()),
            action: "moved".into(),
            data: None,
            changes: vec![],
            place: Some(Place {
                from: None,
                to: Some(Named {
                    id: Id(4),
                    handle: "TASK-004".into(),
                }),
            }),
            links: vec![],
            reason: Some("tidier".into()),
            about: None,
            tick: Some(3),
            details: None,
            shown: Some(Shown {
                seen: vec![Seen {
                    id: Id(4),
                    version: 2,
                }],
                told: vec![Told {
                    id: Id(4),
                    upto: Seq(9),
                }],
                stopped: None,
            }),
            gone: None,
        };
        let text = serde_json::to_string(&delta).unwrap();
        assert_eq!(serde_json::from_str::<EntityDelta>(&text).unwrap(), delta);
    }
}
