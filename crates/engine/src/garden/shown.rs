//! Items on the wire: what each type of item has, and what a change of an entity changed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::fragment::Fragment;
use understory_model::item::{EntityDelta, Item, Named};
use understory_model::{Seq, Time};

/// An item, or the place of one that the caller may not read.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ItemShape {
    Hidden(HiddenItem),
    Shown(Box<ShownItem>),
}

impl ItemShape {
    /// Adds the item's text as a person reads it, where it has one.
    pub(crate) fn render(&mut self, render: impl FnOnce(&str) -> Result<String>) -> Result<()> {
        let ItemShape::Shown(shown) = self else {
            return Ok(());
        };
        match &mut shown.fields {
            Fields::Message(message) => message.rendered = Some(render(&message.description)?),
            Fields::Own(own) => {
                let described = own.fields.get("description").and_then(Value::as_str);
                let data = own.fields.get("data").and_then(Value::as_object);
                if let Some(text) = described.or_else(|| data.and_then(text_of)) {
                    let rendered = render(text)?;
                    own.fields.insert("rendered".into(), rendered.into());
                }
            }
            Fields::Change(_) => {}
        }
        Ok(())
    }
}

/// The text in the fields of a thing.
fn text_of(data: &Map<String, Value>) -> Option<&str> {
    let mut texts = ["body", "description", "content"].into_iter();
    texts.find_map(|field| data.get(field)?.as_str())
}

/// What is told of an item that the caller may not read: its place and when, so that the numbers of
/// a timeline have no gap.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HiddenItem {
    /// `hidden`.
    #[serde(rename = "_type")]
    pub kind: String,
    pub seq: Seq,
    pub realized_at: Time,
    /// Always true.
    pub hidden: bool,
}

impl HiddenItem {
    pub(crate) fn of(item: &Item) -> HiddenItem {
        HiddenItem {
            kind: "hidden".to_string(),
            seq: item.seq,
            realized_at: item.realized_at,
            hidden: true,
        }
    }
}

/// An item with the fields of its type.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ShownItem {
    /// `item_<uuid>`.
    pub uuid: String,
    #[serde(rename = "_type")]
    pub kind: String,
    /// When it was written down.
    pub realized_at: Time,
    /// When it happened.
    pub canonical_at: Time,
    /// Its number in the log.
    pub seq: Seq,
    /// The agent that wrote it.
    pub actor: String,
    pub session: String,
    /// The item that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caused_by: Option<String>,
    /// The item that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    #[serde(flatten)]
    pub fields: Fields,
}

/// The fields of an item's type.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Fields {
    Change(Change),
    Message(Message),
    Own(OwnFields),
}

/// A change of an entity.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    pub entity_uuid: Option<String>,
    pub entity_type: String,
    pub handle: String,
    pub action: String,
    /// The hash of the version that it made, and of the one before.
    pub commit: String,
    pub parent: Option<String>,
    pub version: i64,
    pub changes: Changes,
}

/// All that a change changed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// Each field with what it was and what it is. A key inside another follows a point.
    pub fields: BTreeMap<String, [Value; 2]>,
    /// Added fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Removed fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was said beside a change of a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// An entity: its chain and its value.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct EntityShape {
    /// `entity_<uuid>`.
    pub uuid: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    /// Its short name, such as R001, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// The hash of this version, and of the one before.
    pub hash: String,
    pub previous_hash: Option<String>,
    pub version: i64,
    pub created_at: Time,
    pub updated_at: Time,
    pub created_by: String,
    /// Its value.
    pub data: Map<String, Value>,
    /// Of a conversation, the name by which texts refer to it: `uuid_<uuid>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// The entity that it is grouped with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived_from: Option<String>,
    /// The entity that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_at: Option<Time>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
    /// What its own fields call it, in a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its text, with each reference replaced by what it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
}

impl EntityShape {
    /// Adds the entity's text as a person reads it, where it has one.
    pub(crate) fn render(&mut self, render: impl FnOnce(&str) -> Result<String>) -> Result<()> {
        if let Some(text) = text_of(&self.data) {
            self.rendered = Some(render(text)?);
        }
        Ok(())
    }
}

/// A step of a trace: an item, readable on its own.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// `item_<uuid>`.
    pub uuid: String,
    #[serde(rename = "_type")]
    pub kind: String,
    pub realized_at: Time,
    pub actor: String,
    /// What it is about, in a line.
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// What it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Who said it, where somebody else wrote it down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// Why a commit was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// How many steps it is from where the trace began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<i64>,
    /// The step from which it was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Parts of messages that a commit was made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Cited>,
}

/// A part of a message.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Cited {
    pub message_uuid: String,
    pub content: String,
}

/// A message of a thread.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub message_id: String,
    pub thread: String,
    pub description: String,
    pub sender: String,
    /// The parts of its text.
    pub fragments: Vec<Fragment>,
    /// The message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies_to: Option<String>,
    /// Whether its author took back what it said.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
    /// Its text, with each reference replaced by what it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
}

/// What an item of any other type says, in fields of its own.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct OwnFields {
    #[serde(flatten)]
    pub fields: Map<String, Value>,
    /// The item that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies_to: Option<String>,
    /// The conversation that it stands in: `uuid_<uuid>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// The entity that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_uuid: Option<String>,
    /// Whether its author took back what it said.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

/// All that a change changed. What was not there, or is not there any more, is listed too: a null
/// may be a value.
pub(crate) fn changes(delta: &EntityDelta) -> Changes {
    let (mut fields, mut added, mut removed) = (BTreeMap::new(), Vec::new(), Vec::new());
    for (field, value) in delta.data.iter().flatten() {
        fields.insert(escaped(field), [Value::Null, value.clone()]);
    }
    for change in &delta.changes {
        let at: Vec<String> = change.at.iter().map(|key| escaped(key)).collect();
        let at = at.join(".");
        if change.before.is_none() {
            added.push(at.clone());
        }
        if change.after.is_none() {
            removed.push(at.clone());
        }
        let values = [&change.before, &change.after].map(|value| value.clone().unwrap_or_default());
        fields.insert(at, values);
    }
    if let Some(place) = &delta.place {
        let handle =
            |named: &Option<Named>| named.as_ref().map(|named| named.handle.clone()).into();
        fields.insert("parent".into(), [handle(&place.from), handle(&place.to)]);
    }
    let mut links: BTreeMap<&str, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
    for link in &delta.links {
        let (gone, come) = links.entry(&link.relation).or_default();
        if link.remove {
            gone.push(&link.to.handle)
        } else {
            come.push(&link.to.handle)
        }
    }
    for (relation, (gone, come)) in links {
        fields.insert(relation.to_string(), [few(&gone), few(&come)]);
    }
    if let Some(gone) = &delta.gone {
        fields.insert("gone".into(), [false.into(), true.into()]);
        if let Some(into) = &gone.into {
            fields.insert(
                "gone_into".into(),
                [Value::Null, into.handle.clone().into()],
            );
        }
    }
    Changes {
        fields,
        added,
        removed,
        reason: delta.reason.clone(),
        metadata: None,
    }
}

/// A key of a path, told from the points between keys.
fn escaped(key: &str) -> String {
    key.replace('\\', "\\\\").replace('.', "\\.")
}

/// None, one, or a list of names.
fn few(names: &[&str]) -> Value {
    match names {
        [] => Value::Null,
        [one] => (*one).into(),
        some => some.into(),
    }
}
