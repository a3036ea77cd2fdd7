//! `branchmind_graph_diff`: how a graph document differs between two branches.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};
use understory_model::branch::{Stretch, unseen};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::{Seq, Ws};
use understory_storage::Tx;
use understory_storage::vertices::{self, Vertex};

use super::fitted;
use super::notes::pagination;
use super::place::Place;
use super::vertex::{Graph, NODE, key_shown, same, shown};

/// Keys compared at once.
const CHUNK: i64 = 500;

pub fn diff(
    tx: &mut Tx<'_>,
    ws: Ws,
    (from, to, doc): (&str, &str, &str),
    cursor: Option<Seq>,
    limit: i64,
    budget: &Budget,
) -> Result<Value> {
    let open = |tx: &mut Tx<'_>, branch: &str| {
        let place = Place {
            branch: branch.to_string(),
            doc: doc.to_string(),
        };
        Graph::open(tx, ws, place)
    };
    let (here, there) = (open(tx, from)?, open(tx, to)?);
    let mut found = changed(tx, &here, &there)?;
    found.retain(|vertex| vertex.seq < cursor.unwrap_or(Seq::MAX));
    found.sort_by_key(|vertex| Reverse(vertex.seq));
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = found.len() > most;
    found.truncate(most);
    let mut changes = Vec::with_capacity(found.len());
    for vertex in &found {
        let name = if vertex.kind == NODE { "id" } else { "key" };
        changes.push(json!({
            "kind": vertex.kind,
            name: key_shown(&vertex.key),
            "to": shown(tx, ws, vertex)?,
        }));
    }
    Ok(fitted(changes.len(), budget, |kept, cut| {
        let seqs: Vec<Value> = changes[..kept]
            .iter()
            .map(|change| change["to"].clone())
            .collect();
        let more = more || kept < changes.len();
        json!({
            "from": from,
            "to": to,
            "doc": doc,
            "changes": changes[..kept],
            "pagination": pagination(cursor, limit, &seqs, "last_seq", more),
            "truncated": cut,
        })
    }))
}

/// What `there` shows that differs from what `here` shows, in any order.
pub fn changed(tx: &mut Tx<'_>, here: &Graph, there: &Graph) -> Result<Vec<Vertex>> {
    let mut keys = BTreeSet::new();
    // Only what one of the two does not see can make a difference.
    for (known, other) in [(here, there), (there, here)] {
        for part in unseen(&known.sources, &other.sources) {
            keys_of(tx, other, &part, &mut keys)?;
        }
    }
    keys.extend(here.own_key().into_iter().chain(there.own_key()));
    let keys: Vec<String> = keys.into_iter().collect();
    let mut found = Vec::new();
    for some in keys.chunks(CHUNK as usize) {
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        let ours: HashMap<String, Vertex> = here.latest(tx, &some)?;
        for (key, theirs) in there.latest(tx, &some)? {
            if !same(ours.get(&key), Some(&theirs)) {
                found.push(theirs);
            }
        }
    }
    Ok(found)
}

fn keys_of(
    tx: &mut Tx<'_>,
    graph: &Graph,
    part: &Stretch,
    keys: &mut BTreeSet<String>,
) -> Result<()> {
    let mut before = Seq::MAX;
    loop {
        let place = (part.branch.as_str(), graph.place.doc.as_str());
        let chunk = vertices::newest(tx, graph.ws, place, None, (part.upto, before), CHUNK)?;
        let Some(last) = chunk.last() else {
            return Ok(());
        };
        before = last.seq;
        let done = last.seq <= part.after;
        keys.extend(
            chunk
                .into_iter()
                .filter(|vertex| vertex.seq > part.after)
                .map(|vertex| vertex.key),
        );
        if done {
            return Ok(());
        }
    }
}
