//! References in texts: what each stands for, and the text as a person reads it.

use serde_json::{Value, json};
use understory_model::error::Result;
use understory_model::fragment::{Anchor, fragments};
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::refs::{Ref, Target, parse_references};
use understory_model::text::cut;
use understory_model::{Caller, Seq, Ws};
use understory_storage::{Tx, fragments as places, items};

use super::artifact;
use super::name::{self, Found};
use super::shape::{self, PREVIEW, Shapes};
use super::{Mention, content};
use crate::core::Thing;
use crate::projection::LOG;
use crate::threads::{MESSAGE, said};

/// Places of one fragment id that are looked at: it has sixteen bits, and the newest is meant.
const CANDIDATES: i64 = 8;

/// A fragment that was found: its message, where it stands there, and what it says.
pub struct Part {
    pub item: Item,
    pub position: usize,
    pub content: String,
    /// Whether another text bears the same id.
    pub ambiguous: bool,
}

/// The parts of a message, in order, with their ids.
pub fn parts(item: &Item) -> Vec<(String, String)> {
    if item.kind != MESSAGE {
        return Vec::new();
    }
    if item.entity.is_some() {
        let body = said(item).map(|said| said.body).unwrap_or_default();
        let parts = fragments(&body).into_iter();
        return parts.map(|part| (part.id, part.content)).collect();
    }
    let fields = content(item)
        .map(|content| content.fields)
        .unwrap_or_default();
    let parts = fields.get("fragments").and_then(Value::as_array);
    let text = |part: &Value, field: &str| part[field].as_str().unwrap_or_default().to_string();
    let parts = parts.into_iter().flatten();
    parts
        .map(|part| (text(part, "id"), text(part, "content")))
        .collect()
}

/// The newest message that bears a fragment id, and whether an other text bears it too.
pub fn fragment(tx: &mut Tx<'_>, ws: Ws, id: &str) -> Result<Option<Part>> {
    let mut newest: Option<Part> = None;
    for place in places::places(tx, ws, id, CANDIDATES)? {
        let Some(item) = items::get(tx, ws, place.seq)? else {
            continue;
        };
        let position = usize::try_from(place.position).unwrap_or(0);
        let Some((_, content)) = parts(&item).into_iter().nth(position) else {
            continue;
        };
        match &mut newest {
            None => {
                newest = Some(Part {
                    item,
                    position,
                    content,
                    ambiguous: false,
                });
            }
            Some(first) => first.ambiguous |= first.content != content,
        }
    }
    Ok(newest)
}

/// The text that an anchor stands for: one part of a message or a range of them.
pub fn anchored(tx: &mut Tx<'_>, ws: Ws, anchor: &Anchor) -> Result<Option<Part>> {
    let Some(item) = items::by_uuid(tx, ws, &anchor.item)? else {
        return Ok(None);
    };
    let parts = parts(&item);
    let Some(first) = parts.iter().position(|(id, _)| *id == anchor.first) else {
        return Ok(None);
    };
    let last = match &anchor.last {
        None => Some(first),
        Some(last) => (first..parts.len()).find(|at| parts[*at].0 == *last),
    };
    Ok(last.map(|last| Part {
        position: first,
        content: parts[first..=last]
            .iter()
            .map(|(_, content)| content.as_str())
            .collect(),
        item,
        ambiguous: false,
    }))
}

/// What a text refers to, for a write to keep.
pub fn mentions(tx: &mut Tx<'_>, ws: Ws, text: &str) -> Result<Vec<Mention>> {
    let mut mentions = Vec::new();
    for one in parse_references(text).into_iter().take(MOST_MENTIONS) {
        let found = match &one.what {
            Target::Fragment(id) => {
                fragment(tx, ws, id)?.map(|part| (part.item.seq, "fragment", Some(id.clone())))
            }
            Target::Line { label, .. } => name::look(tx, ws, label)?
                .filter(|found| found.type_name() == "artifact")
                .map(|found| (found.id(), "artifact", None)),
            Target::Log(name) | Target::Item(name) => {
                name::look(tx, ws, name)?.map(|found| (found.id(), found.type_name(), None))
            }
        };
        if let Some((target, kind, fragment)) = found {
            mentions.push(Mention {
                target,
                kind: kind.to_string(),
                span: one.span,
                fragment,
            });
        }
    }
    Ok(mentions)
}

/// References of one text that are looked up when it is written.
const MOST_MENTIONS: usize = 200;

/// Each reference of a text with what it stands for.
pub fn resolve(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, text: &str) -> Result<Vec<Value>> {
    let refs = parse_references(text);
    refs.iter()
        .map(|one| resolved(tx, ws, caller, one))
        .collect()
}

/// The same before anything was written.
pub fn unresolved(text: &str) -> Vec<Value> {
    parse_references(text).iter().map(bare).collect()
}

/// A reference as it is written.
fn bare(one: &Ref) -> Value {
    let mut shape = match &one.what {
        Target::Fragment(id) => json!({ "id": id }),
        Target::Line {
            label,
            line,
            commit,
        } => {
            json!({ "label": label, "line": line, "commit": commit })
        }
        Target::Log(uuid) | Target::Item(uuid) => json!({ "uuid": uuid }),
    };
    shape["type"] = one.what.kind().into();
    shape["span"] = json!([one.span.0, one.span.1]);
    shape["resolved"] = false.into();
    shape
}

fn resolved(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, one: &Ref) -> Result<Value> {
    let mut shape = bare(one);
    let known = match &one.what {
        Target::Fragment(id) => of_fragment(tx, ws, caller, id)?,
        Target::Line {
            label,
            line,
            commit,
        } => of_line(tx, ws, label, *line, commit.as_deref())?,
        Target::Log(uuid) => of_log(tx, ws, caller, uuid)?,
        Target::Item(uuid) => of_item(tx, ws, caller, uuid)?,
    };
    shape["resolved"] = known.is_some().into();
    if let (Some(shape), Some(Value::Object(known))) = (shape.as_object_mut(), known) {
        shape.extend(known);
    }
    Ok(shape)
}

fn of_fragment(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, id: &str) -> Result<Option<Value>> {
    let Some(part) = fragment(tx, ws, id)? else {
        return Ok(None);
    };
    let shapes = Shapes::load(tx, ws, caller, [&part.item])?;
    let preview = match shapes.shows(&part.item) {
        true => cut(&part.content, PREVIEW),
        false => String::new(),
    };
    let mut known = json!({
        "preview": preview,
        "message_uuid": item_name(&part.item.uuid),
        "position": part.position,
    });
    if part.ambiguous {
        known["ambiguous"] = true.into();
    }
    Ok(Some(known))
}

/// A line of an artifact; `line` beyond what any artifact has stands for none.
fn of_line(
    tx: &mut Tx<'_>,
    ws: Ws,
    label: &str,
    line: Option<i64>,
    commit: Option<&str>,
) -> Result<Option<Value>> {
    let Some(line) = line else { return Ok(None) };
    let found = artifact::line(tx, ws, None, (label, line, commit))?;
    Ok(found.map(|found| {
        json!({
            "uuid": found.artifact.name,
            "content": found.content,
            "at": found.at.hash,
        })
    }))
}

fn of_log(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, uuid: &str) -> Result<Option<Value>> {
    let Some(Found::Entity(entity)) = name::look(tx, ws, uuid)? else {
        return Ok(None);
    };
    if entity.kind != LOG {
        return Ok(None);
    }
    let id = entity.id;
    let thing = Thing::open(*entity)?;
    let told = match thing
        .data
        .get("summary")
        .and_then(|summary| summary["content"].as_str())
    {
        Some(summary) => cut(summary, PREVIEW),
        None => first_words(tx, ws, caller, id)?,
    };
    Ok(Some(json!({ "summary_or_first_fragment": told })))
}

/// How a conversation begins.
fn first_words(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, log: Seq) -> Result<String> {
    let first = understory_storage::logs::items(tx, ws, log, (0, Seq::MAX), 1)?.pop();
    let Some(first) = first else {
        return Ok(String::new());
    };
    match parts(&first).into_iter().next() {
        Some((_, content)) => Ok(cut(&content, PREVIEW)),
        None => Ok(Shapes::load(tx, ws, caller, [&first])?.text(&first)),
    }
}

fn of_item(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, uuid: &str) -> Result<Option<Value>> {
    Ok(match name::look(tx, ws, uuid)? {
        None => None,
        Some(Found::Item(item)) => {
            let shapes = Shapes::load(tx, ws, caller, [&*item])?;
            Some(json!({ "_type": item.kind, "preview": shapes.text(&item) }))
        }
        Some(Found::Entity(entity)) => {
            let preview = shape::entity_text(tx, ws, caller, entity.id)?;
            Some(json!({ "_type": entity.kind, "preview": preview }))
        }
        Some(Found::Relation(..)) => Some(json!({ "_type": "relation", "preview": "" })),
    })
}

/// The text with each reference as what a person reads: `[what it stands for]`.
pub fn render(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, text: &str) -> Result<String> {
    let mut refs = parse_references(text);
    // Where one stretch is several references, the longest says most.
    refs.sort_by_key(|one| (one.span.0, std::cmp::Reverse(one.span.1)));
    let chars: Vec<char> = text.chars().collect();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for one in refs {
        let (start, end) = one.span;
        if start < at {
            continue;
        }
        let known = resolved(tx, ws, caller, &one)?;
        let Some(shown) = readable(&known, &chars[start..end]) else {
            continue;
        };
        out.extend(&chars[at..start]);
        out.push_str(&shown);
        at = end;
    }
    out.extend(&chars[at..]);
    Ok(out)
}

/// What a person reads in place of a reference; `None` leaves it as it is written.
fn readable(known: &Value, written: &[char]) -> Option<String> {
    if known["resolved"] != true {
        return None;
    }
    let text = |field: &str| known[field].as_str().unwrap_or_default().trim().to_string();
    let told = match known["type"].as_str()? {
        "artifact_line" => format!("{} line {}", text("label"), known["line"]),
        // The author said already what to call it.
        "conversation_log" => {
            let written: String = written.iter().collect();
            let (said, _) = written.strip_prefix('[')?.rsplit_once("](")?;
            match said.trim() {
                "" => text("summary_or_first_fragment"),
                said => said.to_string(),
            }
        }
        _ => text("preview"),
    };
    (!told.is_empty()).then(|| format!("[{}]", cut(&told, 80)))
}
