//! `branchmind_graph_diff`: how a graph document differs between two branches.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde_json::{Value, json};
use understory_model::branch::{Source, unseen, visible};
use understory_model::budget::{Budget, fit_rows};
use understory_model::error::Result;
use understory_model::{Seq, Ws};
use understory_storage::Tx;
use understory_storage::vertices::{self, Vertex, Wanted};

use super::notes::{Asked, pagination};
use super::place::Place;
use super::vertex::{EDGE, Graph, NODE, key_shown, same, shown};

/// Keys compared at once: at the most, and at the least where few are left to find.
const CHUNK: usize = 256;
const FEW: usize = 16;

pub fn diff(
    tx: &mut Tx<'_>,
    ws: Ws,
    (from, to, doc): (&str, &str, &str),
    asked: Asked,
    budget: &Budget,
) -> Result<Value> {
    let Asked { cursor, limit } = asked;
    let open = |tx: &mut Tx<'_>, branch: &str| {
        let place = Place {
            branch: branch.to_string(),
            doc: doc.to_string(),
        };
        Graph::open(tx, ws, place)
    };
    let (here, there) = (open(tx, from)?, open(tx, to)?);
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let before = cursor.unwrap_or(Seq::MAX);
    let mut found = changed(tx, (&here, &there), before, most.saturating_add(1))?;
    let more = found.len() > most;
    found.truncate(most);
    let states = shown(tx, ws, &found)?;
    let change = |(vertex, state): (&Vertex, Value)| {
        let name = if vertex.kind == NODE { "id" } else { "key" };
        json!({ "kind": vertex.kind, name: key_shown(&vertex.key), "to": state })
    };
    let changes: Vec<Value> = found.iter().zip(states).map(change).collect();
    Ok(fit_rows(&changes, budget, |kept| {
        let rows = (kept, &changes[..], "/to/last_seq");
        json!({
            "from": from,
            "to": to,
            "doc": doc,
            "changes": kept,
            "pagination": pagination(cursor, limit, rows, more),
            "truncated": false,
        })
    }))
}

/// What `there` shows that differs from what `here` shows, before a place, newest first.
fn changed(
    tx: &mut Tx<'_>,
    (here, there): (&Graph, &Graph),
    before: Seq,
    most: usize,
) -> Result<Vec<Vertex>> {
    // What only `there` sees was written after all that both see, so the rest waits until it ends.
    let mut found = news(tx, (here, there), before, most)?;
    if found.len() < most {
        found.extend(left(tx, (here, there), before)?);
    }
    if let Some(key) = there.own_key()
        && let Some(own) = there.one(tx, &key)?.filter(|own| own.seq < before)
        && !same(here.one(tx, &key)?.as_ref(), Some(&own))
    {
        let at = found.partition_point(|vertex| vertex.seq > own.seq);
        found.insert(at, own);
    }
    found.truncate(most);
    Ok(found)
}

fn both(after: Seq, before: Seq) -> Wanted<'static> {
    Wanted {
        kinds: &[NODE, EDGE],
        deleted: true,
        after,
        before,
    }
}

/// Of versions that `there` sees and `here` does not, those that differ, newest first.
fn news(
    tx: &mut Tx<'_>,
    (here, there): (&Graph, &Graph),
    before: Seq,
    most: usize,
) -> Result<Vec<Vertex>> {
    let mut found = Vec::new();
    for part in unseen(&here.sources, &there.sources) {
        let mut sources = there.sources.iter();
        let nearer = sources.position(|source| source.branch == part.branch);
        let nearer = &there.sources[..nearer.unwrap_or_default()];
        let source = Source {
            branch: part.branch,
            cutoff: part.upto,
        };
        let mut wanted = both(part.after, before);
        while found.len() < most {
            let (ws, doc) = (there.ws, &there.place.doc);
            let size = (most - found.len()).clamp(FEW, CHUNK);
            let source = (&source, nearer);
            let chunk = vertices::newest(tx, ws, doc, source, &wanted, size as i64)?;
            let whole = chunk.len() == size;
            wanted.before = chunk.last().map_or(0, |last| last.seq);
            let keys: Vec<&str> = chunk.iter().map(|vertex| vertex.key.as_str()).collect();
            let ours = here.latest(tx, &keys)?;
            let differs = |theirs: &Vertex| !same(ours.get(&theirs.key), Some(theirs));
            found.extend(chunk.into_iter().filter(differs));
            if !whole {
                break;
            }
        }
    }
    Ok(found)
}

/// Of versions that both see and `here` has left behind, those that differ, newest first.
///
/// They come in no order that a page could follow: all keys that only `here` changed are looked at.
fn left(tx: &mut Tx<'_>, (here, there): (&Graph, &Graph), before: Seq) -> Result<Vec<Vertex>> {
    let mut keys = BTreeSet::new();
    for part in unseen(&there.sources, &here.sources) {
        let source = Source {
            branch: part.branch,
            cutoff: part.upto,
        };
        let mut wanted = both(part.after, Seq::MAX);
        loop {
            let (ws, doc, size) = (here.ws, &here.place.doc, CHUNK as i64);
            let chunk = vertices::newest(tx, ws, doc, (&source, &[]), &wanted, size)?;
            let whole = chunk.len() == CHUNK;
            wanted.before = chunk.last().map_or(0, |last| last.seq);
            keys.extend(chunk.into_iter().map(|vertex| vertex.key));
            if !whole {
                break;
            }
        }
    }
    let keys: Vec<String> = keys.into_iter().collect();
    let mut found = Vec::new();
    for some in keys.chunks(CHUNK) {
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        let ours = here.latest(tx, &some)?;
        let theirs = there.latest(tx, &some)?.into_values();
        found.extend(theirs.filter(|theirs| {
            theirs.seq < before
                && visible(&here.sources, &theirs.branch, theirs.seq)
                && !same(ours.get(&theirs.key), Some(theirs))
        }));
    }
    found.sort_by_key(|vertex| Reverse(vertex.seq));
    Ok(found)
}
