//! `garden_timeline`: what happened, newest first, along either clock.

pub mod add;
pub mod get;
pub mod trace;
pub mod undo;
pub mod whole;
pub mod why;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Next, Shape};
use understory_model::error::{Fault, Result};
use understory_model::item::Item;
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Id, Seq, Time};
use understory_storage::timeline::{self, Wanted};
use understory_storage::{items, workspaces};

use crate::View;
use crate::garden::conversation;
use crate::garden::page::Paging;
use crate::garden::shape::{ItemShape, Shapes};
use crate::kernel::access::Reader;
use crate::kernel::names::{self, Scope};
use crate::kernel::project;

const CURSOR: &str = "garden.timeline";
/// Items looked at in one call: what the caller may not read costs time too.
const LOOKED_AT: usize = 5_000;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub types: Vec<String>,
    pub actor: Option<String>,
    pub log: Option<String>,
    pub entity: Option<String>,
    pub since: Option<Time>,
    pub until: Option<Time>,
    /// Along the clock of when things happened, rather than of when they were written down.
    pub canonical: bool,
    pub project: Option<String>,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// The answer of `garden_timeline`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Newest first.
    pub items: Vec<ItemShape>,
    #[serde(flatten)]
    pub paging: Paging,
}

impl Fit for Timeline {
    const SHAPE: Shape = Shape::Pagination { list: "items" };

    fn cursor(&self, kept: usize) -> Option<Next> {
        self.paging.cursor(kept)
    }
}

pub fn timeline(view: &mut View<'_, '_>, asked: &Asked) -> Result<Timeline> {
    let caller = view.caller;
    let cursor = match &asked.cursor {
        None => None,
        Some(cursor) => {
            let cursor = Cursor::decode(cursor, CURSOR)?;
            Some((Time(cursor.int(0)?), cursor.int(1)?))
        }
    };
    let (log, entity, project) = scope(view, caller, asked)?;
    let filtered = asked.actor.is_some() || !asked.types.is_empty() || log.or(entity).is_some();
    let wanted = Wanted {
        kind: None,
        actor: asked.actor.as_deref(),
        log,
        entity,
        project,
        from: Seq(1),
        before: Seq::MAX,
        most: asked.limit + 1,
    };
    let key = |item: &Item| {
        if asked.canonical {
            (item.canonical_at, item.seq)
        } else {
            (item.realized_at, item.seq)
        }
    };
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let mut reader = Reader::new(caller);
    let (mut kept, mut place, mut looked) = (Vec::new(), cursor, 0);
    // Where to go on when much was looked at and little of it may be read.
    let mut on = None;
    loop {
        let mut batch = newest(view, asked, wanted, place)?;
        batch.sort_by_key(|item| std::cmp::Reverse(key(item)));
        batch.truncate(most + 1);
        let whole = batch.len() > most;
        looked += batch.len();
        place = batch.last().map(key);
        for item in batch {
            // A filter would tell of what is hidden that it fits.
            if !filtered || reader.item(view.tx, view.ws, &item)? {
                kept.push(item);
            }
        }
        if kept.len() > most || !whole {
            break;
        }
        if looked >= LOOKED_AT {
            on = place.map(cursor_at);
            break;
        }
    }
    let more = kept.len() > most;
    kept.truncate(most);
    let cursors = kept.iter().map(|item| cursor_at(key(item))).collect();
    let shapes = Shapes::load(view.tx, view.ws, caller, &kept)?;
    Ok(Timeline {
        items: kept.iter().map(|item| shapes.item(item)).collect(),
        paging: match on {
            Some(place) => Paging::going_on(cursors, place),
            None => Paging::new(cursors, more),
        },
    })
}

fn cursor_at((at, seq): (Time, Seq)) -> String {
    Cursor::new(CURSOR, vec![Key::Int(at.0), Key::from(seq)]).encode()
}

/// The newest items before a place that a filter lets through, in no order.
fn newest(
    view: &mut View<'_, '_>,
    asked: &Asked,
    wanted: Wanted<'_>,
    place: Option<(Time, Seq)>,
) -> Result<Vec<Item>> {
    if asked.types.is_empty() {
        return clocked(view, asked, wanted, place);
    }
    let mut found = Vec::new();
    // Each type has its own place in the index, so each is read by itself.
    let mut types = asked.types.clone();
    types.sort_unstable();
    types.dedup();
    for kind in &types {
        let wanted = Wanted {
            kind: Some(kind),
            ..wanted
        };
        found.extend(clocked(view, asked, wanted, place)?);
    }
    Ok(found)
}

fn scope(
    view: &mut View<'_, '_>,
    caller: &Caller,
    asked: &Asked,
) -> Result<(Option<Id>, Option<Id>, Option<Id>)> {
    let log = match &asked.log {
        Some(log) => Some(conversation::find(view.tx, Scope::ids(view.ws, caller), "log", log)?.id),
        None => None,
    };
    let entity = match &asked.entity {
        Some(entity) => {
            let scope = view.scope(asked.project.as_deref())?;
            Some(names::entity(view.tx, scope, "entity", entity)?.id)
        }
        None => None,
    };
    // What was named stands in some project; without a name the caller's own is meant.
    let project = match (log.or(entity), &asked.project) {
        (Some(_), None) => None,
        (_, named) => {
            let found = project::to_read(view, caller, named.as_deref())?;
            Some(found.map_or(Id::ZERO, |project| project.id))
        }
    };
    Ok((log, entity, project))
}

fn clocked(
    view: &mut View<'_, '_>,
    asked: &Asked,
    mut wanted: Wanted<'_>,
    cursor: Option<(Time, Seq)>,
) -> Result<Vec<Item>> {
    let end = workspaces::head(view.tx, view.ws, false)?.map_or(Seq::ZERO, |head| head.seq);
    if let Some(since) = asked.since {
        wanted.from = items::first_at(view.tx, view.ws, since, end)?;
    }
    let until = asked.until.unwrap_or(Time(i64::MAX - 1));
    if !asked.canonical {
        if asked.until.is_some() {
            wanted.before = items::first_at(view.tx, view.ws, Time(until.0 + 1), end)?;
        }
        if let Some((_, seq)) = cursor {
            wanted.before = wanted.before.min(seq);
        }
        return timeline::newest(view.tx, view.ws, &wanted);
    }
    let (at, seq) = match cursor {
        Some(cursor) => cursor.min((until, Seq::MAX)),
        None => (until, Seq::MAX),
    };
    let since = asked.since.unwrap_or(Time(i64::MIN));
    let mut found = timeline::displaced(view.tx, view.ws, &wanted, since, (at, seq))?;
    wanted.before = items::first_at(view.tx, view.ws, Time(at.0.saturating_add(1)), end)?;
    found.extend(timeline::plain(view.tx, view.ws, &wanted, (at, seq))?);
    Ok(found)
}

/// A moment that a caller gives.
pub fn moment(field: &str, text: Option<&str>) -> Result<Option<Time>> {
    text.map(|text| Time::parse(field, text)).transpose()
}

/// The last moment that a caller wants; a date means all of its day.
pub fn last_moment(field: &str, text: Option<&str>) -> Result<Option<Time>> {
    const DAY: i64 = 24 * 60 * 60 * 1_000_000;
    let whole_day = text.is_some_and(Time::is_date);
    let at = moment(field, text)?;
    Ok(at.map(|at| if whole_day { at.plus(DAY - 1) } else { at }))
}

/// Which clock a caller wants: whether it is the canonical one.
pub fn clock(name: Option<&str>) -> Result<bool> {
    match name {
        None | Some("realized") => Ok(false),
        Some("canonical") => Ok(true),
        Some(_) => Err(
            Fault::invalid("clock", "must be one of realized, canonical")
                .detail("field", "clock")
                .detail("allowed", ["realized", "canonical"]),
        ),
    }
}
