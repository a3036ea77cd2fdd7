//! The last items of a conversation, for people who look at it: `garden_log` begins with the first.

use std::collections::HashMap;

use serde::Serialize;
use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq};
use understory_storage::logs as rows;

use crate::View;
use crate::garden::conversation::find;
use crate::garden::conversation::log::{Conversation, row, shape};
use crate::garden::shape::{ItemShape, Shapes};
use crate::garden::shown::Step;
use crate::kernel::access::Reader;
use crate::kernel::core::Thing;
use crate::kernel::log::{self, Entry, Known};
use crate::kernel::names::Scope;
use crate::kinds::{MESSAGE, NOTE};

/// Items are counted up to this.
const COUNTED: i64 = 10_000;
/// Items before a fork that are looked at for what was said.
const NEAR: i64 = 50;

/// How a conversation ends, as far as was asked.
#[derive(Debug, Serialize)]
pub struct Latest {
    pub log: Conversation,
    /// Oldest first; those that the caller may not read are left out.
    pub items: Vec<Shown>,
    /// Whether there are earlier ones.
    pub earlier: bool,
    /// How many there are in all, up to 10,000.
    pub count: i64,
    /// What was last said in its parent before it was forked.
    pub forked_at: Option<Step>,
}

/// An item with its fields, and as a line.
#[derive(Debug, Serialize)]
pub struct Shown {
    pub item: ItemShape,
    pub entry: Entry,
}

/// The last items of a conversation before a place.
pub fn latest(
    view: &mut View<'_, '_>,
    named: &str,
    before: Option<Seq>,
    most: i64,
) -> Result<Latest> {
    let scope = Scope::ids(view.ws, view.caller);
    let entity = find(view.tx, scope, "log", named)?;
    let id = entity.id;
    let before = before.unwrap_or(Seq::MAX);
    let mut found = rows::newest(view.tx, view.ws, id, before, most + 1)?;
    let earlier = found.len() as i64 > most;
    found.truncate(usize::try_from(most).unwrap_or(0));
    found.reverse();
    let mut reader = Reader::new(view.caller);
    let mut visible = Vec::with_capacity(found.len());
    for item in found {
        if reader.item(view.tx, view.ws, &item)? {
            visible.push(item);
        }
    }
    let shapes = Shapes::load(view.tx, view.ws, view.caller, &visible)?;
    let refs: Vec<&Item> = visible.iter().collect();
    let known = Known::of(view.tx, view.ws, &refs)?;
    let shown = visible.iter().map(|item| Shown {
        item: shapes.item(item),
        entry: log::entry(item, &known),
    });
    let items = shown.collect();
    let log = shape(view.tx, view.ws, &Thing::open(entity)?)?;
    let forked_at = forked(view, id)?;
    let count = rows::counts(view.tx, view.ws, &[id], COUNTED)?;
    Ok(Latest {
        log,
        items,
        earlier,
        count: count.get(&id).copied().unwrap_or(0),
        forked_at,
    })
}

/// What was last said in the parent of a conversation before it was forked, as far as it is near.
fn forked(view: &mut View<'_, '_>, log: Id) -> Result<Option<Step>> {
    let Some(parent) = row(view.tx, view.ws, log)?.parent else {
        return Ok(None);
    };
    let mut reader = Reader::new(view.caller);
    for item in rows::newest(view.tx, view.ws, parent, log.seq(), NEAR)? {
        let is_said = [MESSAGE, NOTE].contains(&item.kind.as_str());
        if is_said && reader.item(view.tx, view.ws, &item)? {
            let shapes = Shapes::load(view.tx, view.ws, view.caller, [&item])?;
            return Ok(Some(shapes.step(&item)));
        }
    }
    Ok(None)
}

/// How many items some conversations have, up to 10,000 each, by their names.
pub fn counts(view: &mut View<'_, '_>, named: &[String]) -> Result<HashMap<String, i64>> {
    let scope = Scope::ids(view.ws, view.caller);
    let mut ids: Vec<(Id, &String)> = Vec::with_capacity(named.len());
    for name in named {
        ids.push((find(view.tx, scope, "log", name)?.id, name));
    }
    let logs: Vec<Id> = ids.iter().map(|(id, _)| *id).collect();
    let counts = rows::counts(view.tx, view.ws, &logs, COUNTED)?;
    let named = ids.into_iter();
    Ok(named
        .map(|(id, name)| (name.clone(), counts.get(&id).copied().unwrap_or(0)))
        .collect())
}
