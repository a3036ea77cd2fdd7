//! Documents of entries: what is appended to them, and what is read from their end.

use std::cmp::Reverse;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{Fit, Shape};
use understory_model::branch::{self, Source, unseen};
use understory_model::budget::Drop;
use understory_model::error::{Fault, Result};
use understory_model::fact::{Fact, NoteEntry};
use understory_model::id::item_name;
use understory_model::item::{ENTITY_DELTA, Item};
use understory_model::reasoning::EntryKind;
use understory_model::text::{check_text, quoted};
use understory_model::{Id, Seq, Ws, limits};
use understory_storage::branches::Made;
use understory_storage::entries::{self, Entry, Stretch};
use understory_storage::{ReadTx, items};

use super::place::{self, Kind, Place};
use super::shape::{self, Pagination, Row, seqs};
use super::{docs, lineage};
use crate::Work;
use crate::kernel::log;
use crate::kernel::versions::delta_of;

pub use super::shape::Asked;

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

pub(super) fn check(note: &Note) -> Result<()> {
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

/// What an item keeps of a note, unless it was erased.
pub fn stored(item: &Item) -> Option<NoteEntry> {
    match Fact::read(item) {
        Ok(Fact::NoteEntry(entry)) => Some(*entry),
        _ => None,
    }
}

/// Appends a note; its place in the log.
pub(super) fn append(work: &mut Work<'_, '_>, place: &Place, note: &Note) -> Result<Seq> {
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

/// An entry as it is shown. A copy keeps the author and the time of its original; who
/// merged it stands beside that.
fn shown(entry: &Entry, item: &Item, original: Option<&Item>) -> Result<shape::Entry> {
    let said = original.unwrap_or(item);
    let mut shown = shape::Entry {
        seq: entry.seq,
        ts: said.realized_at,
        branch: entry.branch.clone(),
        doc: entry.doc.clone(),
        kind: EntryKind::parse(&entry.kind).unwrap_or(EntryKind::Note),
        agent: Some(said.actor.clone()),
        merged_by: original.map(|_| item.actor.clone()),
        merged_at: original.map(|_| item.realized_at),
        event_id: None,
        title: None,
        format: None,
        meta: None,
        source_event_id: None,
        content: None,
    };
    if item.kind == ENTITY_DELTA {
        let line = log::entry(item, &log::Known::default());
        let delta = delta_of(item)?;
        let content = format!("{} {}", delta.handle, line.text);
        shown.event_id = Some(item_name(&item.uuid));
        shown.title = Some(delta.action);
        shown.content = Some(content.trim_end().to_string());
    } else if let Some(stored) = stored(item) {
        shown.title = stored.title;
        shown.format = stored.format;
        shown.meta = stored.meta;
        shown.source_event_id = stored.source_event_id;
        shown.content = Some(stored.content);
    }
    Ok(shown)
}

/// A document as one branch sees it.
pub struct Doc {
    pub ws: Ws,
    pub place: Place,
    pub sources: Vec<Source>,
    /// The node whose changes stand in it, on its own branch.
    node: Option<(String, Id)>,
}

impl Doc {
    pub fn open(tx: &mut ReadTx<'_>, ws: Ws, place: Place) -> Result<Doc> {
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
        tx: &mut ReadTx<'_>,
        stretch: &Stretch<'_>,
        newest: bool,
        most: i64,
    ) -> Result<Vec<(Entry, Item)>> {
        let mut found = entries::read(tx, self.ws, stretch, newest, most)?;
        if let Some((branch, id)) = &self.node
            && branch == stretch.branch
        {
            found.extend(entries::events(tx, self.ws, *id, stretch, newest, most)?);
            if newest {
                found.sort_by_key(|(entry, _)| Reverse(entry.seq))
            } else {
                found.sort_by_key(|(entry, _)| entry.seq)
            }
            found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        Ok(found)
    }

    /// The newest entries before a place, newest first.
    pub fn tail(&self, tx: &mut ReadTx<'_>, before: Seq, most: i64) -> Result<Vec<(Entry, Item)>> {
        self.tail_of(tx, &unseen(&[], &self.sources), before, most)
    }

    /// As [`Doc::tail`], of some parts only, nearest first.
    pub fn tail_of(
        &self,
        tx: &mut ReadTx<'_>,
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
                before: before.min(part.upto.next()),
            };
            found.extend(self.stretch(tx, &stretch, true, left)?);
        }
        Ok(found)
    }
}

/// The answer of `branchmind_show` and `branchmind_log`: a page of a document, read from its end.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Page<R> {
    pub branch: String,
    pub doc: String,
    /// The oldest first; the next page is what lies before them.
    pub entries: Vec<R>,
    pub pagination: Pagination<Seq>,
    /// Where this document is empty: others that the branch has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
    pub truncated: bool,
}

impl<R: Row + Serialize> Fit for Page<R> {
    const SHAPE: Shape = Shape::Around {
        list: "entries",
        drop: Drop::First,
    };

    fn around(&self, kept: usize) -> Option<Page<R>> {
        let newest_first = seqs(self.entries.iter().rev());
        Some(Page {
            branch: self.branch.clone(),
            doc: self.doc.clone(),
            entries: Vec::new(),
            pagination: self.pagination.cut(&newest_first, kept),
            documents: self.documents.clone(),
            truncated: self.truncated,
        })
    }
}

/// What was read of a document.
pub(super) struct Found {
    /// The oldest first.
    pub entries: Vec<shape::Entry>,
    pub pagination: Pagination<Seq>,
    /// Documents that the branch has, where this one is empty.
    pub others: Vec<String>,
}

impl Found {
    /// A page of entries that were read newest first, one more of them than are shown.
    pub fn new(
        tx: &mut ReadTx<'_>,
        doc: &Doc,
        mut found: Vec<(Entry, Item)>,
        asked: Asked,
    ) -> Result<Found> {
        let more = found.len() as i64 > asked.limit;
        found.truncate(usize::try_from(asked.limit).unwrap_or(usize::MAX));
        let copies = found.iter().filter(|(entry, _)| entry.origin != entry.seq);
        let origins: Vec<Seq> = copies.map(|(entry, _)| entry.origin).collect();
        let originals: HashMap<Seq, Item> = items::some(tx, doc.ws, &origins)?
            .into_iter()
            .map(|item| (item.seq, item))
            .collect();
        let mut entries = found
            .iter()
            .map(|(entry, item)| shown(entry, item, originals.get(&entry.origin)))
            .collect::<Result<Vec<shape::Entry>>>()?;
        let pagination = Pagination::new(asked, &seqs(&entries), more);
        entries.reverse();
        // Finding nothing may mean looking in the wrong place.
        let others = if entries.is_empty() && asked.cursor.is_none() {
            docs::others(tx, doc.ws, &doc.place)?
        } else {
            Vec::new()
        };
        Ok(Found {
            entries,
            pagination,
            others,
        })
    }
}

/// The answer of `branchmind_notes_commit` and `branchmind_commit`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Committed {
    pub entry: shape::Entry,
    /// Said of a new document that has nearly the name of one that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// `branchmind_notes_commit` and `branchmind_commit`: appends and shows the entry.
pub(super) fn commit(work: &mut Work<'_, '_>, place: &Place, note: &Note) -> Result<Committed> {
    check_writable(place)?;
    let ws = work.ws();
    let warning = docs::near_miss(work.read()?, ws, place)?;
    let seq = append(work, place, note)?;
    let entry = shape::Entry {
        seq,
        ts: work.now,
        branch: place.branch.clone(),
        doc: place.doc.clone(),
        kind: EntryKind::Note,
        agent: None,
        merged_by: None,
        merged_at: None,
        event_id: None,
        title: note.title.clone(),
        format: note.format.clone(),
        meta: note.meta.clone(),
        source_event_id: None,
        content: Some(note.content.clone()),
    };
    Ok(Committed { entry, warning })
}

/// A note says something.
pub(super) fn check_content(note: &Note) -> Result<()> {
    check_text("content", &note.content, usize::MAX, false)?;
    check(note)
}

/// A graph document holds nodes and edges, not entries.
fn check_writable(place: &Place) -> Result<()> {
    match place::node_of_doc(&place.doc) {
        Some((handle, Kind::Graph)) => Err(Fault::invalid(
            "doc",
            format!("{} is the graph of {handle}", quoted(&place.doc)),
        )
        .hint("branchmind_graph_apply writes to it.")),
        _ => Ok(()),
    }
}
