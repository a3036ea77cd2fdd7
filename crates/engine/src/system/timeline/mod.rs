//! The timeline of a workspace as people look at it: who did what when, in a window of time, and how
//! much was done over the whole history.
//!
//! What it costs does not grow with the log: a window that holds many items is read from their counts
//! (`storage::tallies`), and one that holds few from the items themselves.

mod claims;
mod density;
mod entries;
mod lanes;
mod opened;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::{Id, Seq, Time};
use understory_storage::timeline::Brief;
use understory_storage::{entities, items, signals, workspaces};

use crate::View;
use crate::kernel::access::{Reader, reads_all};
use crate::kernel::log::{self, Entry};
use crate::kernel::project;
use crate::kernel::surface::{Sign, Surface};
use crate::kernel::view::{Sought, missing};
use crate::kinds::{AUDIT_EVENT, MESSAGE, THREAD, TOKEN_REVOKED};

pub use claims::{Claim, Waiting, waiting};
pub use density::{Bar, Density, density};
pub use entries::{Entries, entries};
pub use lanes::{Column, Dot, Lane, Lanes, Others, Unit, lanes};
pub use opened::{Opened, Step, opened};

pub const HOUR: i64 = 3_600_000_000;
pub const DAY: i64 = 24 * HOUR;

/// Which part of the log, as a person chose it.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub from: Time,
    pub to: Time,
    /// By when things happened, and not by when they were written down.
    pub happened: bool,
    pub agent: Option<String>,
    pub surface: Option<Surface>,
    /// The type of item.
    pub kind: Option<String>,
    pub project: Option<Id>,
    /// What was done to one thing.
    pub of: Option<Id>,
}

impl Wanted {
    /// Whether a name was asked for that nothing can have.
    fn is_impossible(&self) -> bool {
        let names = [self.agent.as_deref(), self.kind.as_deref()];
        names.into_iter().flatten().any(|name| name.contains('\0'))
    }

    /// When an item stands in the timeline, by the clock that was chosen.
    fn time(&self, item: &Brief) -> Time {
        if self.happened {
            item.canonical_at
        } else {
            item.realized_at
        }
    }

    fn holds(&self, at: Time) -> bool {
        self.from <= at && at < self.to
    }
}

/// An item in a line, with both of its clocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shown {
    #[serde(flatten)]
    pub entry: Entry,
    pub happened_at: Time,
    pub written_at: Time,
    pub surface: Surface,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign: Option<Sign>,
    /// The item that led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Seq>,
}

/// The surface of an item of which only the outline is known.
fn surface_of(item: &Brief) -> Surface {
    // A message that is about an entity stands in a thread, whatever that is called.
    let thread = (item.kind == MESSAGE && item.entity.is_some()).then_some(THREAD);
    Surface::of(&item.kind, item.entity_kind.as_deref().or(thread))
}

/// The entity that a person named, if they may know of it.
pub fn named(view: &mut View<'_, '_>, name: &str) -> Result<Id> {
    let absent = || missing(Sought::Anything, name, std::iter::empty());
    if name.contains('\0') {
        return Err(absent());
    }
    let found = log::find(view, name)?;
    let readable = Reader::new(view.caller).at(view.tx, view.ws, found.id)?;
    readable.then_some(found.id).ok_or_else(absent)
}

/// The names of the projects, in order.
pub fn projects(view: &mut View<'_, '_>) -> Result<Vec<String>> {
    let all = project::all(view.tx, view.ws)?;
    let names = all.iter();
    let mut names: Vec<String> = names
        .map(|(_, entity)| project::name_of(&entity.handle).to_string())
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// When anything of what is wanted was last written.
pub fn latest(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<Option<Time>> {
    if let Some(agent) = wanted.agent.as_deref() {
        let last = items::last_of(view.tx, view.ws, agent)?;
        return Ok(last.map(|last| last.at));
    }
    let head = workspaces::head(view.tx, view.ws, false)?;
    Ok(head.filter(|head| head.seq > Seq::ZERO).map(|head| head.at))
}

/// When a thing was made.
pub fn made_at(view: &mut View<'_, '_>, id: Id) -> Result<Option<Time>> {
    Ok(entities::get(view.tx, view.ws, id)?.map(|entity| entity.created_at))
}

/// When the log began; nothing before its first item.
pub fn began(view: &mut View<'_, '_>) -> Result<Option<Time>> {
    let times = items::times(view.tx, view.ws, &[Seq::FIRST])?;
    Ok(times.get(&Seq::FIRST).copied())
}

/// The places of the log that a window holds, by when items were written: the first, and the one after
/// the last.
fn places(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<(Seq, Seq)> {
    let end = log::end(view)?;
    let found = items::first_at_each(view.tx, view.ws, &[wanted.from, wanted.to], end)?;
    match found[..] {
        [from, before] => Ok((from, before.max(from))),
        _ => Ok((Seq::FIRST, Seq::FIRST)),
    }
}

/// The surfaces of which this caller is not told how much was written.
fn untold(view: &View<'_, '_>) -> &'static [&'static str] {
    if reads_all(view.caller.role) {
        &[]
    } else {
        &Surface::NOT_FOR_ALL
    }
}

/// The newest items with a sign in a part of the log, by their places.
fn signs(
    view: &mut View<'_, '_>,
    between: (Seq, Seq),
    most: i64,
) -> Result<HashMap<Seq, (Sign, Surface)>> {
    let mut found = HashMap::new();
    let without = untold(view);
    for sign in Sign::ALL {
        let asked = (sign.as_str(), without);
        for one in signals::within(view.tx, view.ws, asked, between, most)? {
            if let Some(surface) = Surface::parse(&one.surface) {
                found.insert(one.seq, (sign, surface));
            }
        }
    }
    Ok(found)
}

/// Those of some items that the caller may read. Most are everybody's, so that only a few are read to
/// find out.
fn readable(view: &mut View<'_, '_>, mut found: Vec<Brief>) -> Result<Vec<Brief>> {
    if reads_all(view.caller.role) {
        return Ok(found);
    }
    found.retain(|item| ![AUDIT_EVENT, TOKEN_REVOKED].contains(&item.kind.as_str()));
    let is_open = |item: &Brief| !Surface::NOT_FOR_ALL.contains(&surface_of(item).as_str());
    let asked: Vec<Seq> = found
        .iter()
        .filter(|item| !is_open(item))
        .map(|item| item.seq)
        .collect();
    let mut reader = Reader::new(view.caller);
    let mut may = std::collections::HashSet::new();
    for item in items::some(view.tx, view.ws, &asked)? {
        if reader.item(view.tx, view.ws, &item)? {
            may.insert(item.seq);
        }
    }
    found.retain(|item| is_open(item) || may.contains(&item.seq));
    Ok(found)
}
