//! What remains of an item's content once something in it is erased.
//!
//! Names, states, references, times and numbers stay, because others refer to them and core is
//! replayed from them; what was said goes. A field that is not listed as structure counts as said,
//! so a new field is erased until somebody decides otherwise.
//!
//! Every rule is a function of single values, applied alike to all items of an entity or of the
//! workspace. Changes that fitted each other before therefore fit each other afterwards.

use std::collections::HashSet;

use serde_json::{Map, Value};
use understory_model::canon::python_json;
use understory_model::item::Item;

use crate::kinds::{EntityKind, ItemKind};

/// What stands in the place of an erased text.
pub const ERASED: &str = "[erased]";

/// Texts to be erased wherever they stand.
#[derive(Debug, Default, Clone)]
pub struct Words {
    /// Texts that are a whole value, without the space around it.
    pub whole: HashSet<String>,
    /// Texts that may stand in the middle of others, the longest first.
    pub parts: Vec<String>,
}

impl Words {
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.parts.is_empty()
    }

    /// The text without them; `None` when it holds none.
    pub fn erase_from(&self, text: &str) -> Option<String> {
        if self.whole.contains(text.trim()) {
            return Some(instead(text));
        }
        let mut left: Option<String> = None;
        for part in &self.parts {
            let now = left.as_deref().unwrap_or(text);
            if now.contains(part.as_str()) {
                left = Some(now.replace(part.as_str(), ERASED));
            }
        }
        left
    }

    /// Erases them from every text of a value, names of fields included; whether there were any.
    pub fn erase_in(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.erase_from(text) {
                Some(left) => {
                    *text = left;
                    true
                }
                None => false,
            },
            Value::Array(values) => values
                .iter_mut()
                .fold(false, |any, value| self.erase_in(value) | any),
            Value::Object(map) => {
                let named = map.keys().any(|key| self.erase_from(key).is_some());
                if named {
                    let entries = std::mem::take(map).into_iter();
                    *map = entries
                        .map(|(key, value)| (self.erase_from(&key).unwrap_or(key), value))
                        .collect();
                }
                map.values_mut()
                    .fold(named, |any, value| self.erase_in(value) | any)
            }
            _ => false,
        }
    }
}

/// A line keeps its end.
fn instead(text: &str) -> String {
    let end = text.len() - text.trim_end_matches(['\r', '\n']).len();
    format!("{ERASED}{}", &text[text.len() - end..])
}

/// Which of the things that an item says are erased, beside [`Words`].
#[derive(Debug, Clone)]
pub enum Rule<'r> {
    Nothing,
    /// Everything.
    Whole,
    /// Values that are one of these, as JSON.
    Values(&'r HashSet<String>),
}

/// What remains of an item; `None` when nothing of it is erased.
pub fn remains(item: &Item, rule: &Rule<'_>, words: &Words) -> Option<String> {
    let mut content: Value = serde_json::from_str(item.content.as_deref()?).ok()?;
    let before = content.clone();
    each_said(item, &mut content, true, &mut |value| {
        let hit = match rule {
            Rule::Nothing => false,
            Rule::Whole => true,
            Rule::Values(values) => values.contains(&python_json(value)),
        };
        if hit {
            let text = value.as_str().unwrap_or_default();
            *value = Value::String(instead(text));
        }
    });
    words.erase_in(&mut content);
    (content != before).then(|| content.to_string())
}

/// The values that an item says, without those that it only repeats from before it.
pub fn said(item: &Item) -> Vec<Value> {
    let mut values = Vec::new();
    let content = item.content.as_deref().unwrap_or_default();
    if let Ok(mut content) = serde_json::from_str::<Value>(content) {
        each_said(item, &mut content, false, &mut |value| {
            if *value != ERASED {
                values.push(value.clone());
            }
        });
    }
    values
}

/// Visits what an item says; `repeated`: also the values that a change replaced.
fn each_said(item: &Item, content: &mut Value, repeated: bool, visit: &mut impl FnMut(&mut Value)) {
    let Value::Object(fields) = content else {
        return;
    };
    let kind = ItemKind::of(&item.kind);
    match kind {
        ItemKind::EntityDelta => change(fields, repeated, visit),
        ItemKind::NoteEntry | ItemKind::GraphDelta => {
            let shape = Shape::of_item(kind);
            fields
                .iter_mut()
                .for_each(|(key, value)| shape.walk(key, value, visit));
        }
        ItemKind::Message if item.entity.is_some() => {
            let shape = Shape::MESSAGE;
            fields
                .iter_mut()
                .for_each(|(key, value)| shape.walk(key, value, visit));
        }
        ItemKind::Purged => {
            if let Some(reason) = fields.get_mut("reason") {
                visit(reason);
            }
        }
        ItemKind::Undone
        | ItemKind::Fossilized
        | ItemKind::Corrected
        | ItemKind::ChangesAck
        | ItemKind::ReadAck
        | ItemKind::TokenRevoked
        | ItemKind::FrameMoved => {}
        ItemKind::Message
        | ItemKind::Note
        | ItemKind::ToolCall
        | ItemKind::SystemEvent
        | ItemKind::ArtifactCreated
        | ItemKind::ArtifactDelta
        | ItemKind::AuditEvent
        | ItemKind::Callers(_)
        | ItemKind::Unknown => {
            let shape = Shape::of_item(kind);
            let said = fields.get_mut("fields").and_then(Value::as_object_mut);
            for (key, value) in said.into_iter().flatten() {
                shape.walk(key, value, visit);
            }
        }
    }
}

fn change(fields: &mut Map<String, Value>, repeated: bool, visit: &mut impl FnMut(&mut Value)) {
    let kind = fields.get("kind").and_then(Value::as_str);
    let shape = Shape::of_entity(EntityKind::of(kind.unwrap_or_default()));
    for (key, value) in fields.iter_mut() {
        match (key.as_str(), value) {
            ("data", Value::Object(data)) => data
                .iter_mut()
                .for_each(|(key, value)| shape.walk(key, value, visit)),
            ("changes", Value::Array(changes)) => {
                for change in changes.iter_mut().filter_map(Value::as_object_mut) {
                    let at = change.get("at").and_then(Value::as_array);
                    let at = at.into_iter().flatten().filter_map(Value::as_str);
                    let path: Vec<&str> = at.filter(|key| !is_index(key)).collect();
                    let path = path.join(".");
                    for side in ["was", "is"] {
                        if let Some(value) =
                            change.get_mut(side).filter(|_| repeated || side == "is")
                        {
                            shape.walk(&path, value, visit);
                        }
                    }
                }
            }
            ("reason", value) => visit(value),
            ("details", value) => Shape::FREE.walk("details", value, visit),
            _ => {}
        }
    }
}

fn is_index(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_digit())
}

/// Which fields of a kind of thing are structure, and where numbers are a caller's own.
struct Shape {
    /// Paths of fields, without the places in lists.
    kept: &'static [&'static str],
    /// Fields that hold whatever a caller likes; an empty name is all of them.
    free: &'static [&'static str],
}

impl Shape {
    const FREE: Shape = Shape {
        kept: &[],
        free: &[""],
    };
    const MESSAGE: Shape = Shape {
        kept: &[
            "thread",
            "kind",
            "role",
            "metadata.event_type",
            "metadata.finding_id",
            "metadata.severity",
            "metadata.commit",
            "metadata.commits",
            "metadata.commit_sha",
            "mentions.type",
            "mentions.fragment",
        ],
        free: &["metadata"],
    };

    fn of_item(kind: ItemKind<'_>) -> Shape {
        let kept: &'static [&'static str] = match kind {
            ItemKind::NoteEntry => &[
                "branch",
                "doc",
                "kind",
                "source_event_id",
                "format",
                "meta.card.id",
                "meta.card.status",
                "meta.card.type",
                "meta.graph_doc",
            ],
            ItemKind::GraphDelta => &[
                "branch",
                "doc",
                "key",
                "kind",
                "source",
                "state.id",
                "state.type",
                "state.status",
                "state.from",
                "state.to",
                "state.rel",
            ],
            ItemKind::ArtifactCreated | ItemKind::ArtifactDelta => &[
                "artifact_uuid",
                "commit",
                "hash",
                "label",
                "ops",
                "previous_hash",
                "parent",
                "previous_head",
                "references",
                "sources.part",
            ],
            ItemKind::SystemEvent => &[
                "event_type",
                "payload.log",
                "payload.artifact",
                "payload.label",
                "payload.proposal",
                "payload.item",
                "payload.commit",
                "payload.status",
            ],
            ItemKind::ToolCall => &[
                "caller",
                "operation",
                "tool",
                "params.artifact",
                "params.label",
                "params.proposal",
                "params.commit",
                "result.status",
                "result.timestamp",
                "result.output.commit",
                "result.output.proposal",
                "result.output.artifact",
                "result.output.status",
            ],
            _ => &[],
        };
        let free: &'static [&'static str] = match kind {
            ItemKind::NoteEntry => &["meta"],
            ItemKind::GraphDelta => &["state.meta"],
            ItemKind::ArtifactCreated
            | ItemKind::ArtifactDelta
            | ItemKind::SystemEvent
            | ItemKind::ToolCall => &[],
            _ => &[""],
        };
        Shape { kept, free }
    }

    fn of_entity(kind: EntityKind<'_>) -> Shape {
        let kept: &'static [&'static str] = match kind {
            EntityKind::Node => &[
                "properties._claimed_by",
                "properties._claimed_at",
                "properties._claimed_session",
                "properties.priority",
                "evidence.type",
                "evidence.agent",
                "evidence.timestamp",
                "context_links.type",
            ],
            EntityKind::Project => &["name"],
            EntityKind::Record => &["state", "type"],
            EntityKind::Session => &["name", "parent_session", "agent"],
            EntityKind::Branch => &["name", "base_branch"],
            EntityKind::Checkout => &["ref"],
            EntityKind::Conflict => &[
                "doc",
                "from",
                "into",
                "key",
                "kind",
                "status",
                "vertex",
                "resolution",
                "ours.id",
                "ours.type",
                "ours.status",
                "ours.from",
                "ours.to",
                "ours.rel",
                "theirs.id",
                "theirs.type",
                "theirs.status",
                "theirs.from",
                "theirs.to",
                "theirs.rel",
            ],
            EntityKind::Thread => &["participants", "status", "type"],
            EntityKind::Wake => &["action", "result", "target", "thread"],
            EntityKind::Log => &[
                "forked_at",
                "parent_uuid",
                "continues",
                "summary.author",
                "summary.timestamp",
                "summary.fragment_ids",
            ],
            EntityKind::Relation => &["kind", "source_type", "target_type", "fragment"],
            EntityKind::Artifact => &["label", "head"],
            EntityKind::Proposal => &[
                "artifact",
                "based_on",
                "item",
                "label",
                "status",
                "commit",
                "decided_at",
                "decided_by",
                "decision",
            ],
            EntityKind::Callers(_) => &[],
        };
        let free: &'static [&'static str] = match kind {
            EntityKind::Node => &["properties", "evidence"],
            EntityKind::Record => &["metadata"],
            kind if kind.is_own() => &[],
            _ => &[""],
        };
        Shape { kept, free }
    }

    fn walk(&self, path: &str, value: &mut Value, visit: &mut impl FnMut(&mut Value)) {
        if self.kept.contains(&path) {
            return;
        }
        match value {
            Value::Array(values) => values
                .iter_mut()
                .for_each(|value| self.walk(path, value, visit)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.walk(&format!("{path}.{key}"), value, visit);
                }
            }
            Value::String(text) if text.is_empty() => {}
            Value::String(_) => visit(value),
            Value::Number(_) if self.is_free(path) => visit(value),
            _ => {}
        }
    }

    fn is_free(&self, path: &str) -> bool {
        self.free.iter().any(|field| {
            let rest = path.strip_prefix(field);
            field.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}
