//! About some lines of an artifact: what stood there before, and who refers to them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use understory_model::error::Result;
use understory_model::item::{ENTITY_DELTA, EntityDelta, Item};
use understory_model::lines::{Origin, Pair, pairs};
use understory_model::refs::parse_lines;
use understory_model::{Seq, Time};
use understory_storage::relations::{self, Relation};
use understory_storage::{artifacts, items};

use crate::View;
use crate::garden::artifact::history::History;
use crate::kernel::access::Reader;
use crate::kernel::artifact::{Found, at};
use crate::kernel::content::content;
use crate::kernel::content::message::said;
use crate::kernel::log::{self, Entry, Known};

/// What a line said before it was changed.
#[derive(Debug, Clone, Serialize)]
pub struct Before {
    pub content: String,
    /// Who wrote that, and when.
    pub actor: String,
    pub at: Time,
    pub commit: String,
}

/// What a line of a version said before, newest first. The line is counted from 0.
pub fn before(
    view: &mut View<'_, '_>,
    found: &Found,
    history: &History,
    (commit, line): (Seq, usize),
    most: usize,
) -> Result<Vec<Before>> {
    let (id, mut told) = (found.id(), Vec::new());
    let by: HashMap<Seq, &str> = history
        .commits
        .iter()
        .map(|(hash, wrote)| (wrote.seq, hash.as_str()))
        .collect();
    let mut origin = origin(view, found, (commit, line))?;
    while let Some(here) = origin.filter(|_| told.len() < most) {
        let row = artifacts::get_commit(view.tx, view.ws, id, here.commit)?;
        let Some(parent) = row.and_then(|row| row.parent) else {
            break;
        };
        let new = at(view.tx, view.ws, id, here.commit)?;
        let old = at(view.tx, view.ws, id, parent)?;
        let Some(place) = new.lines.iter().position(|line| line.origin == here) else {
            break;
        };
        let rows = pairs(&old.texts(), &new.texts());
        let stood = rows.into_iter().find_map(|row| match row {
            Pair::Changed { old, new } if new == place => Some(old),
            _ => None,
        });
        let Some(line) = stood.and_then(|at| old.lines.get(at)) else {
            break;
        };
        let hash = by.get(&line.origin.commit).copied().unwrap_or_default();
        if let Some(wrote) = history.commits.get(hash) {
            told.push(Before {
                content: line.bare().to_owned(),
                actor: wrote.actor.clone(),
                at: wrote.at,
                commit: hash.to_owned(),
            });
        }
        origin = Some(line.origin);
    }
    Ok(told)
}

/// Where a line of a version was written.
fn origin(
    view: &mut View<'_, '_>,
    found: &Found,
    (commit, line): (Seq, usize),
) -> Result<Option<Origin>> {
    let version = at(view.tx, view.ws, found.id(), commit)?;
    Ok(version.lines.get(line).map(|line| line.origin))
}

/// Mentions of an artifact that are looked at for those of some lines, the newest.
const LOOKED_AT: i64 = 500;

/// Something whose text refers to a line.
#[derive(Debug, Clone, Serialize)]
pub struct Referrer {
    #[serde(flatten)]
    pub entry: Entry,
    /// How often it does.
    pub times: usize,
}

/// What refers to some lines of a version, newest first. A text means the lines as they were numbered
/// when it was written, so a reference follows its line.
pub fn referrers(
    view: &mut View<'_, '_>,
    found: &Found,
    history: &History,
    (commit, lines): (Seq, Range<usize>),
    most: usize,
) -> Result<Vec<Referrer>> {
    let version = at(view.tx, view.ws, found.id(), commit)?;
    let wanted: HashSet<Origin> = version
        .lines
        .get(lines)
        .into_iter()
        .flatten()
        .map(|line| line.origin)
        .collect();
    let mut reader = Reader::new(view.caller);
    let mut saying: Vec<(Item, usize)> = Vec::new();
    for one in relations::mentions_of(view.tx, view.ws, found.id(), LOOKED_AT)? {
        if saying.len() > most || !reader.relation(view.tx, view.ws, &one)? {
            continue;
        }
        let Some(item) = items::get(view.tx, view.ws, one.made)? else {
            continue;
        };
        if !means(view, found, history, (&item, &one), &wanted)? {
            continue;
        }
        let same = |other: &&mut (Item, usize)| match item.entity {
            Some(entity) => other.0.entity == Some(entity) && other.0.kind == item.kind,
            None => other.0.seq == item.seq,
        };
        match saying.iter_mut().find(same) {
            Some((_, times)) => *times += 1,
            None => saying.push((item, 1)),
        }
    }
    saying.truncate(most);
    let known = Known::of(
        view.tx,
        view.ws,
        &saying.iter().map(|(item, _)| item).collect::<Vec<_>>(),
    )?;
    let told = saying.iter().map(|(item, times)| Referrer {
        entry: log::entry(item, &known),
        times: *times,
    });
    Ok(told.collect())
}

/// Whether a reference means one of the lines that were written there.
fn means(
    view: &mut View<'_, '_>,
    found: &Found,
    history: &History,
    (item, one): (&Item, &Relation),
    wanted: &HashSet<Origin>,
) -> Result<bool> {
    let Some(place) = &one.place else {
        return Ok(false);
    };
    let text = text_of(item, &place.field).unwrap_or_default();
    let (start, end) = place.span;
    let length = usize::try_from(end - start).unwrap_or(0);
    let named: String = text
        .chars()
        .skip(usize::try_from(start).unwrap_or(0))
        .take(length)
        .collect();
    let Some(lines) = parse_lines(&named) else {
        return Ok(false);
    };
    let then = match lines.commit {
        Some(name) => history
            .commits
            .iter()
            .find(|(hash, _)| hash.starts_with(name))
            .map(|(_, wrote)| wrote.seq),
        None => history.as_of(one.made).map(|then| then.seq),
    };
    let Some(then) = then else {
        return Ok(false);
    };
    let version = at(view.tx, view.ws, found.id(), then)?;
    let index = |line: i64| usize::try_from(line).ok()?.checked_sub(1);
    let some = index(lines.first).zip(index(lines.last));
    let some = some.and_then(|(first, last)| version.lines.get(first..=last));
    Ok(some
        .into_iter()
        .flatten()
        .any(|line| wanted.contains(&line.origin)))
}

/// The text of a field of an item.
fn text_of(item: &Item, field: &str) -> Option<String> {
    if item.kind == ENTITY_DELTA {
        let delta: EntityDelta = serde_json::from_str(item.content.as_deref()?).ok()?;
        let changed = delta
            .changes
            .into_iter()
            .find(|change| change.at.first().is_some_and(|first| first == field));
        let value = match changed {
            Some(change) => change.after,
            None => delta.data.and_then(|mut data| data.remove(field)),
        };
        return value?.as_str().map(str::to_owned);
    }
    if let Some(said) = said(item).filter(|_| item.entity.is_some()) {
        return Some(said.body);
    }
    let fields = content(item)?.fields;
    fields.get(field).and_then(Value::as_str).map(str::to_owned)
}
