//! Who wrote what in a window: a lane for each agent, with a dot for each item or a bar for each
//! stretch of time.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use understory_model::error::Result;
use understory_model::{Seq, Time};
use understory_storage::items;
use understory_storage::tallies::{self, Stretch};
use understory_storage::timeline::{self, Brief};

use super::claims::{Claim, claims};
use super::{DAY, HOUR, Wanted, places, readable, signs, surface_of, untold};
use crate::View;
use crate::kernel::core::seen::GRAINS;
use crate::kernel::surface::{Sign, Surface};

/// Items of a window that are read one by one; of more, only their counts.
const ITEMS: i64 = 2_000;
/// Items with a sign that are shown in a window.
pub(super) const SIGNS: i64 = 200;
/// Dots that stand for many items, in a window that is not shown in bars.
const STRETCHES: i64 = 72;
/// Bars of a lane.
const BARS: i64 = 240;

/// The lanes of a window.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Lanes {
    /// All items of the window that were asked for.
    pub total: i64,
    /// All items of the window.
    pub everything: i64,
    pub unit: Unit,
    /// Whether there are more items than were gone through.
    pub more: bool,
    pub lanes: Vec<Lane>,
    pub others: Others,
    /// What all wrote, where it is shown in bars.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Column>,
}

/// What a window is shown in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "shows", content = "width", rename_all = "snake_case")]
pub enum Unit {
    #[default]
    Marks,
    /// Bars of so many microseconds.
    Bars(i64),
}

/// What one agent did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Lane {
    pub agent: String,
    pub count: i64,
    /// When it last wrote something in the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Time>,
    /// Items, or where the lane is in bars only those with a sign.
    pub marks: Vec<Dot>,
    /// Beginnings and counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<(Time, i64)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// An item, or many of a stretch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dot {
    /// Nothing where it stands for many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    pub at: Time,
    pub surface: Surface,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign: Option<Sign>,
    pub count: i64,
}

/// Those without a lane of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Others {
    pub agents: i64,
    pub items: i64,
}

/// What all wrote in a stretch of time.
#[derive(Debug, Clone, Serialize)]
pub struct Column {
    pub at: Time,
    pub count: i64,
    pub surfaces: BTreeMap<Surface, i64>,
}

/// The lanes of those who wrote most, at most so many: the caller's first, then by when each last
/// wrote.
pub fn lanes(view: &mut View<'_, '_>, wanted: &Wanted, most: usize) -> Result<Lanes> {
    if wanted.is_impossible() || wanted.from >= wanted.to {
        return Ok(Lanes::default());
    }
    let (first, end) = places(view, wanted)?;
    let few = end - first <= ITEMS || wanted.kind.is_some() || wanted.of.is_some();
    let mut found = if few {
        from_items(view, wanted, (first, end), most)?
    } else {
        from_counts(view, wanted, (first, end), most)?
    };
    found.everything = end - first;
    let mut held = claims(view, wanted)?;
    held.retain(|_, _| found.unit == Unit::Marks && wanted.surface.is_none());
    for lane in &mut found.lanes {
        lane.claims = held.remove(&lane.agent).unwrap_or_default();
    }
    // Who holds something has a lane, if there is room, even without a word.
    for (agent, claims) in held {
        if found.lanes.len() < most && wanted.kind.is_none() {
            found.lanes.push(Lane {
                agent,
                claims,
                ..Lane::default()
            });
        }
    }
    let own = view.caller.agent.as_str();
    let shows_own = wanted.agent.as_deref().is_none_or(|agent| agent == own);
    if shows_own && !found.lanes.is_empty() && !found.lanes.iter().any(|lane| lane.agent == own) {
        if found.lanes.len() == most
            && let Some(least) = found.lanes.pop()
        {
            found.others.agents += 1;
            found.others.items += least.count;
        }
        found.lanes.push(Lane {
            agent: own.to_string(),
            ..Lane::default()
        });
    }
    found.lanes.sort_by(|one, other| {
        let key = |lane: &Lane| (lane.agent != own, std::cmp::Reverse(lane.last));
        (key(one), &one.agent).cmp(&(key(other), &other.agent))
    });
    Ok(found)
}

/// How the storage is asked for what is wanted.
pub(super) fn along(
    wanted: &Wanted,
    (from, before): (Seq, Seq),
    most: i64,
) -> timeline::Wanted<'_> {
    timeline::Wanted {
        kind: wanted.kind.as_deref(),
        actor: wanted.agent.as_deref(),
        log: None,
        entity: wanted.of,
        project: wanted.project,
        from,
        before,
        most,
    }
}

fn from_items(
    view: &mut View<'_, '_>,
    wanted: &Wanted,
    (first, end): (Seq, Seq),
    most: usize,
) -> Result<Lanes> {
    let asked = along(wanted, (first, end), ITEMS + 1);
    let mut found = timeline::briefs(view.tx, view.ws, &asked)?;
    let more = found.len() as i64 > ITEMS;
    found.truncate(usize::try_from(ITEMS).unwrap_or(0));
    if wanted.happened {
        found.retain(|item| wanted.holds(item.canonical_at));
        let known: std::collections::HashSet<Seq> = found.iter().map(|item| item.seq).collect();
        let asked = along(wanted, (Seq::FIRST, Seq::MAX), SIGNS);
        let between = (wanted.from, wanted.to);
        let moved = timeline::briefs_displaced(view.tx, view.ws, &asked, between)?;
        found.extend(moved.into_iter().filter(|item| !known.contains(&item.seq)));
    }
    let marked = signs(view, (first, end), SIGNS)?;
    let surface = |item: &Brief| match marked.get(&item.seq) {
        Some((_, surface)) => *surface,
        None => surface_of(item),
    };
    found.retain(|item| wanted.surface.is_none_or(|one| one == surface(item)));
    let found = readable(view, found)?;
    let mut by: HashMap<String, Vec<Dot>> = HashMap::new();
    for item in &found {
        by.entry(item.actor.clone()).or_default().push(Dot {
            seq: Some(item.seq),
            at: wanted.time(item),
            surface: surface(item),
            sign: marked.get(&item.seq).map(|(sign, _)| *sign),
            count: 1,
        });
    }
    let unit = unit(wanted);
    let all: Vec<Dot> = by.values().flatten().cloned().collect();
    let mut lanes: Vec<Lane> = by
        .into_iter()
        .map(|(agent, dots)| lane(wanted, unit, agent, dots))
        .collect();
    lanes.sort_by(|one, other| (other.count, &one.agent).cmp(&(one.count, &other.agent)));
    let rest = lanes.split_off(lanes.len().min(most));
    Ok(Lanes {
        total: found.len() as i64,
        unit,
        more,
        lanes,
        others: Others {
            agents: rest.len() as i64,
            items: rest.iter().map(|lane| lane.count).sum(),
        },
        columns: columns(wanted, unit, &all),
        everything: 0,
    })
}

fn lane(wanted: &Wanted, unit: Unit, agent: String, mut dots: Vec<Dot>) -> Lane {
    dots.sort_by_key(|dot| (dot.at, dot.seq));
    let mut lane = Lane {
        agent,
        count: dots.len() as i64,
        last: dots.last().map(|dot| dot.at),
        ..Lane::default()
    };
    if let Unit::Bars(width) = unit {
        let mut bars: BTreeMap<i64, i64> = BTreeMap::new();
        for dot in &dots {
            *bars.entry(begins(wanted, width, dot.at)).or_default() += 1;
        }
        lane.bars = bars.into_iter().map(|(at, n)| (Time(at), n)).collect();
        dots.retain(|dot| dot.sign.is_some());
    }
    lane.marks = dots;
    lane
}

/// When the bar begins that a moment belongs to.
fn begins(wanted: &Wanted, width: i64, at: Time) -> i64 {
    let from = aligned(wanted, width);
    from + (at.0 - from).div_euclid(width) * width
}

/// When the first bar of a window begins: at a round time.
fn aligned(wanted: &Wanted, width: i64) -> i64 {
    let grain = width.min(DAY);
    wanted.from.0.div_euclid(grain) * grain
}

fn columns(wanted: &Wanted, unit: Unit, dots: &[Dot]) -> Vec<Column> {
    let Unit::Bars(width) = unit else {
        return Vec::new();
    };
    let mut found: BTreeMap<i64, BTreeMap<Surface, i64>> = BTreeMap::new();
    for dot in dots {
        let of = found.entry(begins(wanted, width, dot.at)).or_default();
        *of.entry(dot.surface).or_default() += dot.count;
    }
    found
        .into_iter()
        .map(|(at, surfaces)| column(at, surfaces))
        .collect()
}

fn column(at: i64, surfaces: BTreeMap<Surface, i64>) -> Column {
    Column {
        at: Time(at),
        count: surfaces.values().sum(),
        surfaces,
    }
}

/// From a day upward a window is in bars, of an hour where that is not too many.
fn unit(wanted: &Wanted) -> Unit {
    let time = wanted.to.0 - wanted.from.0;
    if time < DAY {
        return Unit::Marks;
    }
    if time <= BARS * HOUR {
        return Unit::Bars(HOUR);
    }
    Unit::Bars((time / (BARS - 1) / DAY + 1) * DAY)
}

fn from_counts(
    view: &mut View<'_, '_>,
    wanted: &Wanted,
    between: (Seq, Seq),
    most: usize,
) -> Result<Lanes> {
    let unit = unit(wanted);
    let [minute, hour, day] = GRAINS;
    let (grain, width) = match unit {
        Unit::Marks => {
            let time = wanted.to.0 - wanted.from.0;
            (minute, (time / STRETCHES / minute).max(1) * minute)
        }
        Unit::Bars(width) if width < DAY => (hour, width),
        Unit::Bars(width) => (day, width),
    };
    let asked = tallies::Wanted {
        grain,
        from: Time(aligned(wanted, grain)),
        to: wanted.to,
        actor: wanted.agent.as_deref(),
        surface: wanted.surface.map(Surface::as_str),
        project: wanted.project,
        without: untold(view),
    };
    let (tx, ws) = (&mut *view.tx, view.ws);
    let (agents, total) = tallies::total(tx, ws, &asked)?;
    let writers = tallies::busiest(tx, ws, &asked, most as i64)?;
    let names: Vec<&str> = writers.iter().map(|one| one.agent.as_str()).collect();
    let found = tallies::of_agents(tx, ws, &asked, width, &names)?;
    let columns = match unit {
        Unit::Bars(_) => all_columns(tallies::of_all(tx, ws, &asked, width)?, asked.from, width),
        Unit::Marks => Vec::new(),
    };
    let mut by: HashMap<&str, Vec<&Stretch>> = HashMap::new();
    for one in &found {
        by.entry(&one.agent).or_default().push(one);
    }
    let mut lanes = Vec::with_capacity(writers.len());
    for writer in &writers {
        let of = by.remove(writer.agent.as_str()).unwrap_or_default();
        let last = items::last_of(view.tx, view.ws, &writer.agent)?.map(|last| last.at);
        let last = last.filter(|at| wanted.holds(*at)).or(Some(writer.last));
        lanes.push(counted(writer, last, &of, (unit, asked.from, width)));
    }
    signed(view, wanted, between, &mut lanes)?;
    let own: i64 = writers.iter().map(|one| one.n).sum();
    Ok(Lanes {
        total,
        unit,
        lanes,
        others: Others {
            agents: agents - writers.len() as i64,
            items: total - own,
        },
        columns,
        ..Lanes::default()
    })
}

fn all_columns(found: Vec<Stretch>, from: Time, width: i64) -> Vec<Column> {
    let mut by: BTreeMap<i64, BTreeMap<Surface, i64>> = BTreeMap::new();
    for one in found {
        if let Some(surface) = Surface::parse(&one.surface) {
            let of = by.entry(from.0 + one.n * width).or_default();
            *of.entry(surface).or_default() += one.count;
        }
    }
    by.into_iter()
        .map(|(at, surfaces)| column(at, surfaces))
        .collect()
}

/// A lane of counts: bars, or dots that stand for many.
fn counted(
    writer: &tallies::Writer,
    last: Option<Time>,
    found: &[&Stretch],
    (unit, from, width): (Unit, Time, i64),
) -> Lane {
    let mut by: BTreeMap<i64, (i64, Option<Surface>)> = BTreeMap::new();
    for one in found {
        let of = by.entry(one.n).or_default();
        of.0 += one.count;
        of.1 = Surface::parse(&one.surface);
    }
    let at = |n: i64| Time(from.0 + n * width);
    let mut lane = Lane {
        agent: writer.agent.clone(),
        count: writer.n,
        last,
        ..Lane::default()
    };
    match unit {
        Unit::Bars(_) => lane.bars = by.iter().map(|(n, (count, _))| (at(*n), *count)).collect(),
        Unit::Marks => {
            let dots = by.into_iter().map(|(n, (count, surface))| Dot {
                seq: None,
                at: at(n).plus(width / 2),
                surface: surface.unwrap_or(Surface::Acts),
                sign: None,
                count,
            });
            lane.marks = dots.collect();
        }
    }
    lane
}

/// Puts the items with a sign into their lanes.
fn signed(
    view: &mut View<'_, '_>,
    wanted: &Wanted,
    between: (Seq, Seq),
    lanes: &mut [Lane],
) -> Result<()> {
    let marked = signs(view, between, SIGNS)?;
    let seqs: Vec<Seq> = marked.keys().copied().collect();
    let found = timeline::briefs_at(view.tx, view.ws, &seqs)?;
    for item in readable(view, found)? {
        let Some((sign, surface)) = marked.get(&item.seq) else {
            continue;
        };
        let elsewhere = wanted
            .project
            .is_some_and(|one| item.project.is_some_and(|of| of != one));
        if elsewhere || wanted.surface.is_some_and(|one| one != *surface) {
            continue;
        }
        if let Some(lane) = lanes.iter_mut().find(|lane| lane.agent == item.actor) {
            lane.marks.push(Dot {
                seq: Some(item.seq),
                at: item.realized_at,
                surface: *surface,
                sign: Some(*sign),
                count: 1,
            });
        }
    }
    for lane in lanes {
        lane.marks.sort_by_key(|dot| (dot.at, dot.seq));
    }
    Ok(())
}
