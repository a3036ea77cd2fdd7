//! What a commit says, as it stands in the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::Seq;
use understory_model::answer::{fields_of, json_of};
use understory_model::canon::entity_hash;
use understory_model::delta::Change;
use understory_model::error::Result;
use understory_model::fact::Content;
use understory_model::item::{EntityDelta, Item};
use understory_model::lines::bare;

use crate::kernel::content::content;
use crate::kinds::ARTIFACT;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Delta {
    pub artifact_uuid: String,
    pub commit: String,
    #[serde(default)]
    pub parent: Parents,
    pub ops: String,
    #[serde(default)]
    pub references: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What the operations bring, in their order: a commit needs no message to be read again.
    #[serde(default)]
    pub texts: Vec<String>,
    /// Where those were written, if not here: what a merge brings from its other side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Option<(Seq, usize)>>,
    /// Whether a line feed ends the text.
    pub newline: bool,
    /// The artifact's label when this was written, and how many lines it has since.
    pub label: String,
    pub lines: i64,
    pub bytes: i64,
    /// Whether it stands beside the head instead of becoming it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fork: bool,
    /// Of which lines it is known what they were made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// The version of its artifact that it makes. Commits written before artifacts had one for
    /// each make none.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub makes: Option<Makes>,
}

/// What the name of a commit is made from.
#[derive(Serialize)]
struct Hashed<'d> {
    artifact: &'d str,
    newline: bool,
    ops: &'d str,
    parents: Vec<&'d str>,
    texts: &'d [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fork: bool,
}

/// A line of the version that a commit makes, and the part of a message that it was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    pub line: usize,
    /// `item_<uuid>#^a7f`.
    pub part: String,
}

/// The next version of an artifact as an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Makes {
    pub version: i64,
    pub hash: String,
    pub previous_hash: String,
    /// The head before; none before the first commit.
    pub previous_head: Option<String>,
}

/// The field of an artifact's value that says at which commit it stands.
pub const HEAD: &str = "head";

impl Delta {
    /// The lines that were written here and nowhere before.
    pub fn own_lines(&self) -> Vec<&str> {
        self.own_texts().map(|at| bare(&self.texts[at])).collect()
    }

    /// Which of its texts those are.
    pub fn own_texts(&self) -> impl Iterator<Item = usize> {
        let elsewhere = |at: &usize| self.origins.get(*at).is_some_and(Option::is_some);
        (0..self.texts.len()).filter(move |at| !elsewhere(at))
    }
}

/// The commits that one was made from: none, one, or the two sides of a merge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Parents {
    #[default]
    None,
    One(String),
    Two([String; 2]),
}

impl Parents {
    pub fn hashes(&self) -> Vec<&str> {
        match self {
            Parents::None => Vec::new(),
            Parents::One(one) => vec![one],
            Parents::Two([ours, theirs]) => vec![ours, theirs],
        }
    }
}

impl Delta {
    /// What an item says; `None` if it is not a commit.
    pub fn of(item: &Item) -> Option<Delta> {
        Delta::said(&content(item)?)
    }

    /// What the content of an item says; `None` if it is not a commit.
    pub fn said(content: &Content) -> Option<Delta> {
        Delta::deserialize(&content.fields).ok()
    }

    /// The name that its content gives it: the same change of the same commit has the same. One
    /// beside the head has another: the head must be able to become what stands beside it.
    pub fn hash(&self) -> Result<String> {
        let parents = self.parent.hashes();
        let first = parents.first().copied();
        let said = Hashed {
            artifact: &self.artifact_uuid,
            newline: self.newline,
            ops: &self.ops,
            fork: self.fork,
            texts: &self.texts,
            parents,
        };
        Ok(entity_hash(&json_of(&said)?, first))
    }

    /// The change of the artifact that this commit is.
    pub fn change(&self) -> Option<EntityDelta> {
        let makes = self.makes.as_ref()?;
        let head = Change {
            at: vec![HEAD.to_string()],
            before: makes.previous_head.clone().map(Value::from),
            after: Some(self.commit.clone().into()),
        };
        Some(EntityDelta {
            kind: ARTIFACT.to_string(),
            handle: self.artifact_uuid.clone(),
            version: makes.version,
            commit: makes.hash.clone(),
            parent: Some(makes.previous_hash.clone()),
            action: "committed".to_string(),
            data: None,
            changes: if self.fork { Vec::new() } else { vec![head] },
            place: None,
            links: Vec::new(),
            reason: self.reasoning.clone(),
            about: None,
            tick: None,
            details: None,
            shown: None,
            gone: None,
        })
    }

    pub fn fields(&self) -> Result<Map<String, Value>> {
        fields_of(self)
    }
}
