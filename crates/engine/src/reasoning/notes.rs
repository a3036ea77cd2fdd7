//! Documents of entries: appended to, read from their end, compared.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde_json::{Map, Value, json};
use understory_model::branch::{self, Source, unseen};
use understory_model::budget::{Budget, fit_rows};
use understory_model::error::{Fault, Result};
use understory_model::fact::{Fact, NoteEntry};
use understory_model::id::item_name;
use understory_model::item::{ENTITY_DELTA, Item};
use understory_model::text::{check_text, quoted};
use understory_model::{Seq, Ws, limits};
use understory_storage::branches::Made;
use understory_storage::entries::{self, Entry, Stretch};
use understory_storage::{Tx, items};

use super::place::{self, Kind, Place};
use super::{copies, docs, lineage};
use crate::Work;
use crate::log;
use crate::versions::delta_of;

/// A note to be written.
#[derive(Debug, Clone, Default)]
pub struct Note {
    pub title: Option<String>,
    pub format: Option<String>,
    pub meta: Option<Map<String, Value>>,
    pub content: String,
    /// What it must not be written twice for.
    pub source: Option<String>,
    /// The entry that it is a copy of.
    pub origin: Option<Seq>,
}

pub fn check(note: &Note) -> Result<()> {
    if let Some(title) = &note.title {
        check_text("title", title, limits::LINE_CHARS, true)?;
    }
    if let Some(format) = &note.format {
        check_text("format", format, limits::NAME_CHARS, true)?;
    }
    if let Some(meta) = &note.meta {
        let size = serde_json::to_string(meta).map_or(usize::MAX, |text| text.len());
        if size > limits::METADATA_BYTES {
            let most = limits::METADATA_BYTES;
            return Err(Fault::invalid(
                "meta",
                format!("has {size} bytes; at most {most} are allowed"),
            ));
        }
    }
    check_text("content", &note.content, usize::MAX, true)?;
    if note.content.len() > limits::BODY_BYTES {
        let (size, most) = (note.content.len(), limits::BODY_BYTES);
        return Err(Fault::invalid(
            "content",
            format!("has {size} bytes; at most {most} are allowed"),
        )
        .hint("Split it into several notes."));
    }
    Ok(())
}

/// Appends a note; its place in the log.
pub fn append(work: &mut Work<'_, '_>, place: &Place, note: &Note) -> Result<Seq> {
    let entry = NoteEntry {
        branch: place.branch.clone(),
        content: note.content.clone(),
        doc: place.doc.clone(),
        format: note.format.clone(),
        kind: "note".into(),
        meta: note.meta.clone(),
        origin: note.origin,
        source_event_id: note.source.clone(),
        title: note.title.clone(),
    };
    work.note(None, Fact::NoteEntry(Box::new(entry)))
}

/// An entry as it is shown. A copy was said by whoever said the original, when they said it; who
/// merged it stands beside that.
fn shown(entry: &Entry, item: &Item, original: Option<&Item>) -> Result<Value> {
    let mut shown = Map::new();
    let said = original.unwrap_or(item);
    shown.insert("seq".into(), entry.seq.into());
    shown.insert("ts".into(), said.realized_at.to_string().into());
    shown.insert("branch".into(), entry.branch.clone().into());
    shown.insert("doc".into(), entry.doc.clone().into());
    shown.insert("kind".into(), entry.kind.clone().into());
    shown.insert("agent".into(), said.actor.clone().into());
    if original.is_some() {
        shown.insert("merged_by".into(), item.actor.clone().into());
        shown.insert("merged_at".into(), item.realized_at.to_string().into());
    }
    if item.kind == ENTITY_DELTA {
        let line = log::entry(item, &log::Known::default());
        let delta = delta_of(item)?;
        shown.insert("event_id".into(), item_name(&item.uuid).into());
        shown.insert("title".into(), delta.action.into());
        shown.insert(
            "content".into(),
            format!("{} {}", delta.handle, line.text).trim_end().into(),
        );
        return Ok(Value::Object(shown));
    }
    let content: Value = item
        .content
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    for field in ["title", "format", "meta", "source_event_id", "content"] {
        if let Some(value) = content.get(field) {
            shown.insert(field.into(), value.clone());
        }
    }
    Ok(Value::Object(shown))
}

/// A document as one branch sees it.
pub struct Doc {
    pub ws: Ws,
    pub place: Place,
    pub sources: Vec<Source>,
    /// The node whose changes stand in it, on its own branch.
    node: Option<(String, i64)>,
}

impl Doc {
    pub fn open(tx: &mut Tx<'_>, ws: Ws, place: Place) -> Result<Doc> {
        let node = match place::node_of_doc(&place.doc) {
            Some((handle, Kind::Trace)) => place::node(tx, ws, handle)?
                .map(|entity| (place::canonical(&entity.handle), entity.id)),
            _ => None,
        };
        let owner = node.as_ref().map(|(branch, _)| branch.as_str());
        let document = (place.branch.as_str(), place.doc.as_str());
        let sources = lineage::of_doc(tx, ws, document, Made::OfEntries, owner)?;
        Ok(Doc {
            ws,
            place,
            sources,
            node,
        })
    }

    /// Entries of a stretch, with the node's own changes among them where they belong.
    pub fn stretch(
        &self,
        tx: &mut Tx<'_>,
        stretch: &Stretch<'_>,
        newest: bool,
        most: i64,
    ) -> Result<Vec<(Entry, Item)>> {
        let mut found = entries::read(tx, self.ws, stretch, newest, most)?;
        if let Some((branch, id)) = &self.node
            && branch == stretch.branch
        {
            found.extend(entries::events(tx, self.ws, *id, stretch, newest, most)?);
            match newest {
                true => found.sort_by_key(|(entry, _)| Reverse(entry.seq)),
                false => found.sort_by_key(|(entry, _)| entry.seq),
            }
            found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        Ok(found)
    }

    /// The newest entries before a place, newest first.
    pub fn tail(&self, tx: &mut Tx<'_>, before: Seq, most: i64) -> Result<Vec<(Entry, Item)>> {
        self.tail_of(tx, &unseen(&[], &self.sources), before, most)
    }

    /// As [`Doc::tail`], of some parts only, nearest first.
    pub fn tail_of(
        &self,
        tx: &mut Tx<'_>,
        parts: &[branch::Stretch],
        before: Seq,
        most: i64,
    ) -> Result<Vec<(Entry, Item)>> {
        let mut found = Vec::new();
        for part in parts {
            let left = most - found.len() as i64;
            if left <= 0 {
                break;
            }
            let stretch = Stretch {
                branch: &part.branch,
                doc: &self.place.doc,
                after: part.after,
                before: before.min(part.upto.saturating_add(1)),
            };
            found.extend(self.stretch(tx, &stretch, true, left)?);
        }
        Ok(found)
    }
}

/// A page read from the end: entries ascend, and the next page lies before the lowest.
pub struct Page {
    /// Newest first.
    pub entries: Vec<Value>,
    pub more: bool,
    pub cursor: Option<Seq>,
    pub limit: i64,
    /// Documents that the branch has, where this one is empty.
    others: Vec<String>,
}

impl Page {
    fn new(
        tx: &mut Tx<'_>,
        doc: &Doc,
        mut found: Vec<(Entry, Item)>,
        Asked { cursor, limit }: Asked,
    ) -> Result<Page> {
        let more = found.len() as i64 > limit;
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let copies = found.iter().filter(|(entry, _)| entry.origin != entry.seq);
        let origins: Vec<Seq> = copies.map(|(entry, _)| entry.origin).collect();
        let originals: HashMap<Seq, Item> = items::some(tx, doc.ws, &origins)?
            .into_iter()
            .map(|item| (item.seq, item))
            .collect();
        let entries = found
            .iter()
            .map(|(entry, item)| shown(entry, item, originals.get(&entry.origin)))
            .collect::<Result<Vec<Value>>>()?;
        // Whoever finds nothing may have looked in the wrong place.
        let others = match entries.is_empty() && cursor.is_none() {
            true => docs::others(tx, doc.ws, &doc.place)?,
            false => Vec::new(),
        };
        Ok(Page {
            entries,
            more,
            cursor,
            limit,
            others,
        })
    }

    /// The answer with as many of the newest entries as fit, made by `build` of entries in order and
    /// of where the rest is.
    pub fn fitted(&self, budget: &Budget, build: impl Fn(Vec<Value>, Value) -> Value) -> Value {
        fit_rows(&self.entries, budget, |kept| {
            let rows = (kept, &self.entries[..], "/seq");
            let pagination = pagination(self.cursor, self.limit, rows, self.more);
            let mut answer = build(kept.iter().rev().cloned().collect(), pagination);
            if !self.others.is_empty() {
                answer["documents"] = self.others.clone().into();
            }
            answer
        })
    }

    /// The page of a document.
    pub fn of(&self, place: &Place, budget: &Budget) -> Value {
        self.fitted(budget, |entries, pagination| {
            json!({
                "branch": place.branch,
                "doc": place.doc,
                "entries": entries,
                "pagination": pagination,
                "truncated": false,
            })
        })
    }
}

/// Where a page stands: the rows it shows of those that were read, newest first, each with its place
/// in the log under a JSON pointer. Where none is shown, the next page begins with the first.
pub fn pagination(
    cursor: Option<Seq>,
    limit: i64,
    (shown, read, seq): (&[Value], &[Value], &str),
    more: bool,
) -> Value {
    let more = more || shown.len() < read.len();
    let mut pagination = json!({
        "cursor": cursor,
        "has_more": more,
        "limit": limit,
        "count": shown.len(),
    });
    let seq_of = |row: &Value| row.pointer(seq).and_then(Value::as_i64);
    let next = match (shown.last(), read.first()) {
        (Some(last), _) => seq_of(last),
        (None, Some(first)) => seq_of(first).map(|seq| seq + 1),
        (None, None) => None,
    };
    if more && let Some(next) = next {
        pagination["next_cursor"] = next.into();
    }
    pagination
}

/// Which part of a document is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Only what lies before this place.
    pub cursor: Option<Seq>,
    pub limit: i64,
}

/// `branchmind_show`: the end of a document, or what lies before a place in it.
pub fn show(tx: &mut Tx<'_>, ws: Ws, place: Place, asked: Asked, budget: &Budget) -> Result<Value> {
    Ok(page(tx, ws, place.clone(), asked)?.of(&place, budget))
}

pub fn page(tx: &mut Tx<'_>, ws: Ws, place: Place, asked: Asked) -> Result<Page> {
    let doc = Doc::open(tx, ws, place)?;
    let found = doc.tail(tx, asked.cursor.unwrap_or(Seq::MAX), asked.limit + 1)?;
    Page::new(tx, &doc, found, asked)
}

/// `branchmind_log`: one line an entry.
pub fn lines(
    tx: &mut Tx<'_>,
    ws: Ws,
    place: Place,
    asked: Asked,
    budget: &Budget,
) -> Result<Value> {
    let mut page = page(tx, ws, place.clone(), asked)?;
    for entry in &mut page.entries {
        *entry = json!({
            "seq": entry["seq"],
            "ts": entry["ts"],
            "kind": entry["kind"],
            "agent": entry["agent"],
            "line": line(entry),
        });
    }
    Ok(page.of(&place, budget))
}

/// What an entry says first.
fn line(entry: &Value) -> String {
    const LINE: usize = 120;
    let title = entry["title"].as_str().unwrap_or_default();
    let content = entry["content"].as_str().unwrap_or_default();
    let first = content
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let whole = match (title.is_empty(), first.is_empty()) {
        (true, _) => first.to_string(),
        (false, true) => title.to_string(),
        (false, false) => format!("{title}: {first}"),
    };
    let whole: String = whole
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    match whole.chars().count() > LINE {
        true => format!("{}…", whole.chars().take(LINE - 1).collect::<String>()),
        false => whole,
    }
}

/// `branchmind_diff`: entries that one branch shows and another does not.
pub fn diff(
    tx: &mut Tx<'_>,
    ws: Ws,
    (from, to, doc): (&str, &str, &str),
    asked: Asked,
    budget: &Budget,
) -> Result<Value> {
    let known = lineage::sources(tx, ws, from)?;
    let place = Place {
        branch: to.to_string(),
        doc: doc.to_string(),
    };
    let there = Doc::open(tx, ws, place)?;
    let new = unseen(&known, &there.sources);
    let mut before = asked.cursor.unwrap_or(Seq::MAX);
    let mut found = Vec::new();
    loop {
        let some = there.tail_of(tx, &new, before, asked.limit + 1)?;
        let last = some.last().map(|(entry, _)| entry.seq);
        // What came over by a merge is no difference.
        let copied = copies::known(tx, ws, doc, &known, &some)?;
        found.extend(
            some.into_iter()
                .filter(|(entry, _)| !copied.contains(&entry.seq)),
        );
        match last {
            Some(last) if found.len() as i64 <= asked.limit => before = last,
            _ => break,
        }
    }
    let page = Page::new(tx, &there, found, asked)?;
    Ok(page.fitted(budget, |entries, pagination| {
        json!({
            "from": from,
            "to": to,
            "doc": doc,
            "entries": entries,
            "pagination": pagination,
            "truncated": false,
        })
    }))
}

/// `branchmind_notes_commit` and `branchmind_commit`: appends and shows the entry.
pub fn commit(work: &mut Work<'_, '_>, place: &Place, note: &Note) -> Result<Value> {
    let ws = work.ws();
    let near_miss = docs::near_miss(work.tx, ws, place)?;
    let seq = append(work, place, note)?;
    let mut entry = Map::new();
    entry.insert("seq".into(), seq.into());
    entry.insert("ts".into(), work.now.to_string().into());
    entry.insert("branch".into(), place.branch.clone().into());
    entry.insert("doc".into(), place.doc.clone().into());
    entry.insert("kind".into(), "note".into());
    for (name, text) in [("title", &note.title), ("format", &note.format)] {
        if let Some(text) = text {
            entry.insert(name.into(), text.clone().into());
        }
    }
    if let Some(meta) = &note.meta {
        entry.insert("meta".into(), meta.clone().into());
    }
    entry.insert("content".into(), note.content.clone().into());
    let mut answer = json!({ "entry": entry });
    if let Some(warning) = near_miss {
        answer["warning"] = warning.into();
    }
    Ok(answer)
}

/// A note says something.
pub fn check_content(note: &Note) -> Result<()> {
    check_text("content", &note.content, usize::MAX, false)?;
    check(note)
}

/// An entry with a message says at least that.
pub fn check_message(note: &Note) -> Result<()> {
    let message = note.title.as_deref().unwrap_or_default();
    check_text("message", message, limits::LINE_CHARS, false)?;
    check(note)
}

/// A graph document holds nodes and edges, not entries.
pub fn check_writable(place: &Place) -> Result<()> {
    match place::node_of_doc(&place.doc) {
        Some((handle, Kind::Graph)) => Err(Fault::invalid(
            "doc",
            format!("{} is the graph of {handle}", quoted(&place.doc)),
        )
        .hint("branchmind_graph_apply writes to it.")),
        _ => Ok(()),
    }
}
