//! `branchmind_merge`: notes of one branch copied into another, each once.

use serde_json::{Value, json};
use understory_model::branch::{Source, unseen};
use understory_model::error::{Fault, Result};
use understory_model::item::Item;
use understory_model::{Seq, Ws};
use understory_storage::Tx;
use understory_storage::entries::{self, Entry, Stretch};

use super::lineage;
use super::notes::{Doc, Note, append};
use super::place::Place;
use crate::Work;

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub from: String,
    pub into: String,
    pub doc: String,
    /// Only entries after this one: where the page before ended.
    pub cursor: Option<Seq>,
    pub limit: i64,
}

struct Page {
    found: Vec<(Entry, Item)>,
    more: bool,
    /// What `into` sees of the document.
    known: Vec<Source>,
}

/// A page of what `from` shows and `into` does not, oldest first, so that copies keep their order.
fn page(tx: &mut Tx<'_>, ws: Ws, asked: &Asked) -> Result<Page> {
    if asked.from == asked.into {
        return Err(Fault::invalid(
            "into",
            "is the branch that is merged itself",
        ));
    }
    let known = lineage::sources(tx, ws, &asked.into)?;
    let place = Place {
        branch: asked.from.clone(),
        doc: asked.doc.clone(),
    };
    let there = Doc::open(tx, ws, place)?;
    let mut found = Vec::new();
    // Oldest first is farthest first.
    for part in unseen(&known, &there.sources).into_iter().rev() {
        let left = asked.limit + 1 - found.len() as i64;
        if left <= 0 {
            break;
        }
        let stretch = Stretch {
            branch: &part.branch,
            doc: &asked.doc,
            after: part.after.max(asked.cursor.unwrap_or(0)),
            before: part.upto.saturating_add(1),
        };
        let entries = there.stretch(tx, &stretch, false, left)?;
        found.extend(entries);
    }
    let more = found.len() as i64 > asked.limit;
    found.truncate(usize::try_from(asked.limit).unwrap_or(usize::MAX));
    let known = known
        .into_iter()
        .filter_map(|source| {
            match entries::any(tx, ws, &source.branch, &asked.doc, source.cutoff) {
                Ok(true) => Some(Ok(source)),
                Ok(false) => None,
                Err(fault) => Some(Err(fault)),
            }
        })
        .collect::<Result<Vec<Source>>>()?;
    Ok(Page { found, more, known })
}

/// Whether a branch shows an entry already, itself or as a copy.
fn is_there(tx: &mut Tx<'_>, ws: Ws, known: &[Source], doc: &str, origin: Seq) -> Result<bool> {
    for source in known {
        if entries::has_origin(tx, ws, (&source.branch, doc), origin, source.cutoff)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Merges a page.
pub fn merge(work: &mut Work<'_, '_>, asked: &Asked) -> Result<Value> {
    let ws = work.ws();
    let Page {
        found,
        more,
        mut known,
    } = page(work.tx, ws, asked)?;
    let own = Source {
        branch: asked.into.clone(),
        cutoff: Seq::MAX,
    };
    if !known.contains(&own) {
        known.push(own);
    }
    let place = Place {
        branch: asked.into.clone(),
        doc: asked.doc.clone(),
    };
    let (mut merged, mut skipped) = (0, 0);
    for (entry, item) in &found {
        if entry.kind != "note" || is_there(work.tx, ws, &known, &asked.doc, entry.origin)? {
            skipped += 1;
            continue;
        }
        append(work, &place, &copy(asked, entry, item))?;
        work.flush()?;
        merged += 1;
    }
    Ok(shown(asked, (merged, skipped), &found, more))
}

/// What a merge would do.
pub fn look(tx: &mut Tx<'_>, ws: Ws, asked: &Asked) -> Result<Value> {
    let Page { found, more, known } = page(tx, ws, asked)?;
    let mut origins: Vec<Seq> = Vec::new();
    let (mut merged, mut skipped) = (0, 0);
    for (entry, _) in &found {
        let there =
            origins.contains(&entry.origin) || is_there(tx, ws, &known, &asked.doc, entry.origin)?;
        if entry.kind != "note" || there {
            skipped += 1;
        } else {
            origins.push(entry.origin);
            merged += 1;
        }
    }
    Ok(shown(asked, (merged, skipped), &found, more))
}

fn copy(asked: &Asked, entry: &Entry, item: &Item) -> Note {
    let content: Value = item
        .content
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let text = |field: &str| content[field].as_str().map(str::to_string);
    Note {
        title: text("title"),
        format: text("format"),
        meta: content["meta"].as_object().cloned(),
        content: text("content").unwrap_or_default(),
        source: Some(format!("merge:{}:{}", asked.from, entry.seq)),
        origin: Some(entry.origin),
    }
}

fn shown(
    asked: &Asked,
    (merged, skipped): (usize, usize),
    found: &[(Entry, Item)],
    more: bool,
) -> Value {
    let mut pagination = json!({
        "cursor": asked.cursor,
        "has_more": more,
        "limit": asked.limit,
        "count": found.len(),
    });
    if more && let Some((last, _)) = found.last() {
        pagination["next_cursor"] = last.seq.into();
    }
    json!({
        "from": asked.from,
        "into": asked.into,
        "doc": asked.doc,
        "merged": merged,
        "skipped": skipped,
        "pagination": pagination,
    })
}
