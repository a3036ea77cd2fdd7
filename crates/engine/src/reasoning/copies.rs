//! Which entries of a document another branch has already: as copies of a merge, or as the same
//! card written on both.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use understory_model::branch::{Source, visible};
use understory_model::canon::equal_values;
use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Seq, Ws};
use understory_storage::entries::{self, Entry};
use understory_storage::{ReadTx, items};

/// Of some entries, those that a branch with these sources shows already under another number.
pub fn known(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    doc: &str,
    sources: &[Source],
    found: &[(Entry, Item)],
) -> Result<HashSet<Seq>> {
    let origins: Vec<Seq> = found.iter().map(|(entry, _)| entry.origin).collect();
    let there: HashSet<Seq> = entries::of_origins(tx, ws, doc, &origins)?
        .into_iter()
        .filter(|(_, branch, seq)| visible(sources, branch, *seq))
        .map(|(origin, _, _)| origin)
        .collect();
    let copied = found
        .iter()
        .filter(|(entry, _)| there.contains(&entry.origin));
    let mut known: HashSet<Seq> = copied.map(|(entry, _)| entry.seq).collect();
    known.extend(same_cards(tx, ws, doc, sources, found)?);
    Ok(known)
}

/// Cards that are there with the same content, by any author.
fn same_cards(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    doc: &str,
    sources: &[Source],
    found: &[(Entry, Item)],
) -> Result<Vec<Seq>> {
    let cards: Vec<(String, Seq, Value)> = found
        .iter()
        .filter_map(|(entry, item)| {
            let card = card(item)?;
            let source = source(card["card"]["id"].as_str()?);
            Some((source, entry.seq, card))
        })
        .collect();
    let names: Vec<&str> = cards.iter().map(|(source, _, _)| source.as_str()).collect();
    let mut places: HashMap<String, Vec<Seq>> = HashMap::new();
    for (source, branch, seq) in entries::of_sources(tx, ws, doc, &names)? {
        if visible(sources, &branch, seq) {
            places.entry(source).or_default().push(seq);
        }
    }
    let seqs: Vec<Seq> = places.values().flatten().copied().collect();
    let there: HashMap<Seq, Value> = items::some(tx, ws, &seqs)?
        .iter()
        .filter_map(|item| Some((item.seq, card(item)?)))
        .collect();
    let is_there = |(source, _, mine): &&(String, Seq, Value)| {
        let places = places.get(source).into_iter().flatten();
        let mut same = places.filter_map(|seq| there.get(seq));
        same.any(|theirs| equal_values(&theirs["card"], &mine["card"]))
    };
    Ok(cards
        .iter()
        .filter(is_there)
        .map(|(_, seq, _)| *seq)
        .collect())
}

/// What the entry of a card must not be written twice for.
pub fn source(card: &str) -> String {
    format!("card:{card}")
}

/// Whether an entry with this source is the trace of a card.
pub fn is_card(source: &str) -> bool {
    source.starts_with("card:")
}

/// The card that an entry keeps, with its edges.
fn card(item: &Item) -> Option<Value> {
    let content: Value = serde_json::from_str(item.content.as_deref()?).ok()?;
    (content["format"] == "card").then(|| content["meta"].clone())
}
