//! Parts of what was said: which an item has, where an id stands, and what an anchor means.

use serde_json::Value;
use understory_model::Seq;
use understory_model::error::Result;
use understory_model::fragment::{Anchor, Cut, Fragment, PartName, cut};
use understory_model::id::item_name;
use understory_model::item::{EntityDelta, Item};
use understory_storage::{ReadTx, fragments as places, items};

use crate::kernel::access::Reader;
use crate::kernel::content::content;
use crate::kernel::content::message::said;
use crate::kernel::names::{self, Found, Scope};
use crate::kinds::{ItemKind, LOG, MESSAGE};

/// Places of one fragment id that are looked at: it has sixteen bits, and the newest is meant.
const CANDIDATES: i64 = 8;

/// A part that was found: its item, where it stands there, and what it says.
#[derive(Debug, Clone)]
pub struct Part {
    pub item: Item,
    pub position: usize,
    /// The name that means it and nothing else, without that of its item.
    pub name: PartName,
    pub content: String,
    /// Whether another text has the same id.
    pub ambiguous: bool,
}

impl Part {
    /// `item_<uuid>#^a7f`, which means this part and no other.
    pub fn anchor(&self) -> String {
        format!("{}#{}", item_name(&self.item.uuid), self.name)
    }
}

/// The parts of an item, in order, as they were cut when it was written: of a message, or of the
/// summary that ended a conversation.
pub fn parts(item: &Item) -> Vec<Fragment> {
    match ItemKind::of(&item.kind) {
        ItemKind::Message if item.entity.is_some() => {
            let said = said(item);
            said.map(|said| cut(&said.body, said.cut))
                .unwrap_or_default()
        }
        ItemKind::Message => {
            let fields = content(item).map(|content| content.fields);
            let parts = fields.and_then(|mut fields| fields.remove("fragments"));
            parts
                .and_then(|parts| serde_json::from_value(parts).ok())
                .unwrap_or_default()
        }
        ItemKind::EntityDelta => summary_parts(item),
        _ => Vec::new(),
    }
}

/// The parts of a summary: in the way that gives the ids which it says it has.
fn summary_parts(item: &Item) -> Vec<Fragment> {
    let content = item.content.as_deref().unwrap_or_default();
    // Most changes are of other things, and are not worth reading.
    if !content.contains("\"fragment_ids\"") {
        return Vec::new();
    }
    let delta = serde_json::from_str::<EntityDelta>(content).ok();
    let Some(delta) = delta.filter(|delta| delta.kind == LOG) else {
        return Vec::new();
    };
    let told = delta.changes.iter().find(|change| change.at == ["summary"]);
    let Some(summary) = told.and_then(|change| change.after.as_ref()) else {
        return Vec::new();
    };
    let text = summary["content"].as_str().unwrap_or_default();
    let ids = summary["fragment_ids"].as_array().into_iter().flatten();
    let ids: Vec<&str> = ids.filter_map(Value::as_str).collect();
    let same = |parts: &Vec<Fragment>| parts.iter().map(|part| part.id.as_str()).eq(ids.clone());
    let ways = [Cut::Trimmed, Cut::Joined];
    let mut found = ways.into_iter().map(|how| cut(text, how));
    found.find(same).unwrap_or_default()
}

/// The part at a place of an item.
fn at(item: Item, parts: &[Fragment], position: usize) -> Option<Part> {
    let part = parts.get(position)?;
    let same = |other: &&Fragment| other.id == part.id;
    let nth = parts[..=position].iter().filter(same).count();
    let ambiguous = parts
        .iter()
        .filter(same)
        .any(|other| other.content != part.content);
    let several = parts.iter().filter(same).count() > 1;
    Some(Part {
        position,
        name: PartName {
            id: part.id.clone(),
            nth: several.then_some(nth),
        },
        content: part.content.clone(),
        ambiguous,
        item,
    })
}

/// The newest item of a project, or of none, that has a part of this id and may be read.
pub fn newest(tx: &mut ReadTx<'_>, scope: Scope<'_>, id: &str) -> Result<Option<Part>> {
    let mut newest: Option<Part> = None;
    for part in all(tx, scope, id, CANDIDATES)? {
        match &mut newest {
            None => newest = Some(part),
            Some(first) => first.ambiguous |= first.content != part.content,
        }
    }
    Ok(newest)
}

/// The parts of this id in a project or in none that may be read, the newest item first. What may
/// not is passed over, so that it takes nobody's place.
pub fn all(tx: &mut ReadTx<'_>, scope: Scope<'_>, id: &str, most: i64) -> Result<Vec<Part>> {
    let (mut found, mut reader) = (Vec::new(), Reader::new(scope.caller));
    let enough = usize::try_from(most).unwrap_or(0);
    let mut before = places::Place {
        seq: Seq::MAX,
        position: 0,
    };
    loop {
        let some = places::places(tx, scope.ws, scope.project, id, (before, most))?;
        let Some(last) = some.last() else { break };
        before = *last;
        for place in some {
            let Some(item) = items::get(tx, scope.ws, place.seq)? else {
                continue;
            };
            if !reader.item(tx, scope.ws, &item)? {
                continue;
            }
            let position = usize::try_from(place.position).unwrap_or(0);
            let parts = parts(&item);
            found.extend(at(item, &parts, position));
        }
        if found.len() >= enough {
            break;
        }
    }
    found.truncate(enough);
    Ok(found)
}

/// Every part of this id in one item.
pub fn of_item(item: &Item, id: &str) -> Vec<Part> {
    let parts = parts(item);
    let places = parts.iter().enumerate().filter(|(_, part)| part.id == id);
    places
        .filter_map(|(position, _)| at(item.clone(), &parts, position))
        .collect()
}

/// What an anchor means: one part of a message, or all from one to another.
pub fn anchored(tx: &mut ReadTx<'_>, scope: Scope<'_>, anchor: &Anchor) -> Result<Option<Part>> {
    let scope = Scope::ids(scope.ws, scope.caller);
    let item = match names::look(tx, scope, &anchor.item)? {
        Some(Found::Item(item)) => *item,
        _ => return Ok(None),
    };
    let parts = parts(&item);
    let ids = || parts.iter().map(|part| part.id.as_str());
    let Some(first) = anchor.first.position(ids()) else {
        return Ok(None);
    };
    let last = match &anchor.last {
        None => Some(first),
        // Without a number, the first of its id that comes after.
        Some(last) if last.nth.is_none() => {
            (first..parts.len()).find(|at| parts[*at].id == last.id)
        }
        Some(last) => last.position(ids()).filter(|last| *last >= first),
    };
    let Some(last) = last else { return Ok(None) };
    let content = together(&item, &parts[first..=last]);
    let mut part = at(item, &parts, first);
    if let Some(part) = &mut part {
        part.content = content;
        // Who said which of them is meant leaves nothing open.
        part.ambiguous &= anchor.first.nth.is_none();
    }
    Ok(part)
}

/// Parts that stand one after the other, as they stand in their text.
fn together(item: &Item, some: &[Fragment]) -> String {
    let (Some(first), Some(last)) = (some.first(), some.last()) else {
        return String::new();
    };
    if let (Some((start, _)), Some((_, end))) = (first.span, last.span) {
        let text: String = text_of(item).chars().take(end).skip(start).collect();
        if text.starts_with(&first.content) && text.ends_with(&last.content) {
            return text;
        }
    }
    // Pieces of a caller's own need not stand in the text; those cut the first way hold all of it.
    let joined = some.iter().any(|part| part.content.trim() != part.content);
    let contents: Vec<&str> = some.iter().map(|part| part.content.as_str()).collect();
    contents.join(if joined { "" } else { " " })
}

/// The text that an item's parts were cut from.
fn text_of(item: &Item) -> String {
    if item.entity.is_some() && item.kind == MESSAGE {
        return said(item).map(|said| said.body).unwrap_or_default();
    }
    let fields = content(item).map(|content| content.fields);
    let text = fields.as_ref().and_then(|fields| fields.get("description"));
    text.and_then(Value::as_str).unwrap_or_default().to_string()
}

/// Pieces that a caller made, trimmed, each with its place in the text where it stands there.
pub fn placed(contents: &[&str], text: &str) -> Vec<Fragment> {
    let mut from = 0;
    let mut place = |content: &str| {
        let content = content.trim();
        let start = text[from..].find(content).map(|at| from + at);
        let span = start.map(|start| {
            from = start + content.len();
            let before = text[..start].chars().count();
            (before, before + content.chars().count())
        });
        Fragment {
            span,
            ..Fragment::new(content)
        }
    };
    contents.iter().map(|content| place(content)).collect()
}
