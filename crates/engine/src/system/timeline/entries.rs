//! The list beside the lanes: items of a window in a line each, newest first.

use std::collections::HashMap;

use serde::Serialize;
use understory_model::error::Result;
use understory_model::{Seq, Time};
use understory_storage::timeline::{self, Brief};

use super::{Shown, Wanted, places, signs, surface_of};
use crate::View;
use crate::kernel::log::{self, Entry};

/// Items that happened in a window and were written at another time, of which a page tells.
const DISPLACED: i64 = 50;

/// A page of a window.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Entries {
    pub entries: Vec<Shown>,
    /// Where the next page begins, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Seq>,
}

pub fn entries(
    view: &mut View<'_, '_>,
    wanted: &Wanted,
    before: Option<Seq>,
    most: i64,
) -> Result<Entries> {
    if wanted.is_impossible() {
        return Ok(Entries::default());
    }
    let (first, end) = places(view, wanted)?;
    let asked = log::Wanted {
        entity: wanted.of,
        project: wanted.project,
        actor: wanted.agent.clone(),
        without_audit: false,
        kind: wanted.kind.clone(),
        surface: wanted.surface,
        readable: true,
        from: Some(first),
        before: Some(before.unwrap_or(end).min(end)),
        most,
    };
    let (found, next) = log::page(view, &asked)?;
    let mut shown = dressed(view, found)?;
    if wanted.happened {
        shown.retain(|one| wanted.holds(one.happened_at));
        let upto = match before {
            Some(before) => written(view, before)?.unwrap_or(wanted.to).min(wanted.to),
            None => wanted.to,
        };
        let since = match next {
            Some(next) => written(view, next)?.unwrap_or(wanted.from),
            None => wanted.from,
        };
        shown.extend(moved(
            view,
            wanted,
            (since.max(wanted.from), upto),
            (first, end),
        )?);
        shown.sort_by_key(|one| std::cmp::Reverse((one.happened_at, one.entry.seq)));
    }
    Ok(Entries {
        entries: shown,
        next,
    })
}

/// What happened in a part of the window and was written outside of it.
fn moved(
    view: &mut View<'_, '_>,
    wanted: &Wanted,
    between: (Time, Time),
    (first, end): (Seq, Seq),
) -> Result<Vec<Shown>> {
    // What is asked of one thing is found by what was written about it.
    if wanted.of.is_some() || between.0 >= between.1 {
        return Ok(Vec::new());
    }
    let asked = super::lanes::along(wanted, (Seq::FIRST, Seq::MAX), DISPLACED);
    let mut found = timeline::briefs_displaced(view.tx, view.ws, &asked, between)?;
    found.retain(|item| {
        let elsewhere = item.seq < first || item.seq >= end;
        elsewhere && wanted.surface.is_none_or(|one| one == surface_of(item))
    });
    let found = super::readable(view, found)?;
    let mut entries = Vec::with_capacity(found.len());
    for item in found {
        entries.extend(log::at(view, item.seq)?);
    }
    dressed(view, entries)
}

fn written(view: &mut View<'_, '_>, seq: Seq) -> Result<Option<Time>> {
    let found = timeline::briefs_at(view.tx, view.ws, &[seq])?;
    Ok(found.first().map(|item| item.realized_at))
}

/// Lines with their clocks, surfaces and signs.
pub(super) fn dressed(view: &mut View<'_, '_>, entries: Vec<Entry>) -> Result<Vec<Shown>> {
    let seqs: Vec<Seq> = entries.iter().map(|entry| entry.seq).collect();
    let (Some(first), Some(last)) = (seqs.iter().min().copied(), seqs.iter().max().copied()) else {
        return Ok(Vec::new());
    };
    let briefs = timeline::briefs_at(view.tx, view.ws, &seqs)?;
    let briefs: HashMap<Seq, Brief> = briefs.into_iter().map(|item| (item.seq, item)).collect();
    let marked = signs(view, (first, last.next()), super::lanes::SIGNS)?;
    let shown = entries.into_iter().filter_map(|entry| {
        let item = briefs.get(&entry.seq)?;
        let sign = marked.get(&entry.seq);
        Some(Shown {
            happened_at: item.canonical_at,
            written_at: item.realized_at,
            surface: sign.map_or_else(|| surface_of(item), |(_, surface)| *surface),
            sign: sign.map(|(sign, _)| *sign),
            cause: item.cause,
            entry,
        })
    });
    Ok(shown.collect())
}
