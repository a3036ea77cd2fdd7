//! Which things the newest items of the log are about, by every name that an answer may show them
//! under.
//!
//! A watcher of an answer looks again when a thing that it mentions was touched. A name too many
//! costs a look; a name too few would leave a change untold, so where it is not clear what an item
//! touches, everything in it that could be a name counts.

use std::collections::HashSet;

use serde_json::Value;
use understory_model::error::Result;
use understory_model::fact::Fact;
use understory_model::id::item_name;
use understory_model::item::{EntityDelta, Item};
use understory_model::{Caller, Id, Seq};
use understory_storage::{entities, items};

use crate::kernel::versions::change_of;
use crate::{Engine, View};

/// Items that are looked at; more of them may be about anything.
const LOOKED_AT: i64 = 5_000;
const CHUNK: i64 = 500;

/// What was touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    Names(HashSet<String>),
    /// So much that it is not told apart.
    Anything,
}

impl Engine {
    /// What the items after one place of the log and up to another are about.
    pub fn touched(&self, caller: &Caller, after: Seq, upto: Seq) -> Result<Touched> {
        if upto - after > LOOKED_AT {
            return Ok(Touched::Anything);
        }
        self.view(caller, |view| names(view, after, upto).map(Touched::Names))
    }
}

fn names(view: &mut View<'_, '_>, mut after: Seq, upto: Seq) -> Result<HashSet<String>> {
    let (mut names, mut about) = (HashSet::new(), HashSet::new());
    while after < upto {
        let some = items::after(view.tx, view.ws, after, CHUNK)?;
        let Some(last) = some.last().map(|item| item.seq) else {
            break;
        };
        for item in some.into_iter().filter(|item| item.seq <= upto) {
            if let Some(undone) = undone(&item)
                && let Some(item) = items::get(view.tx, view.ws, undone)?
            {
                of_item(&item, &mut names, &mut about);
            }
            of_item(&item, &mut names, &mut about);
        }
        after = last;
    }
    let about: Vec<Id> = about.into_iter().collect();
    let found = entities::some(view.tx, view.ws, &about)?;
    names.extend(found.into_values().map(|entity| entity.handle));
    Ok(names)
}

/// The item that another takes back.
fn undone(item: &Item) -> Option<Seq> {
    match Fact::read(item) {
        Ok(Fact::Undone(undone)) => Some(undone.item),
        _ => None,
    }
}

fn of_item(item: &Item, names: &mut HashSet<String>, about: &mut HashSet<Id>) {
    names.insert(item_name(&item.uuid));
    names.insert(format!("msg_{}", item.seq));
    about.extend(item.entity);
    match change_of(item) {
        Ok(Some(change)) => of_change(change, names),
        _ => {
            let content = item.content.as_deref();
            let content = content.and_then(|content| serde_json::from_str(content).ok());
            of_value(&content.unwrap_or(Value::Null), names);
        }
    }
}

fn of_change(change: EntityDelta, names: &mut HashSet<String>) {
    names.insert(change.handle);
    let place = change.place.into_iter();
    let moved = place.flat_map(|place| [place.from, place.to]).flatten();
    let linked = change.links.into_iter().map(|link| link.to);
    let gone = change.gone.and_then(|gone| gone.into);
    let all = moved.chain(linked).chain(change.about).chain(gone);
    names.extend(all.map(|named| named.handle));
}

/// Texts that could be a name: short, without spaces, and with a number in them.
fn of_value(value: &Value, names: &mut HashSet<String>) {
    match value {
        Value::String(text) => {
            let short = text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_graphic());
            if short && text.bytes().any(|byte| byte.is_ascii_digit()) {
                names.insert(text.clone());
            }
        }
        Value::Array(values) => values.iter().for_each(|value| of_value(value, names)),
        Value::Object(fields) => fields.values().for_each(|value| of_value(value, names)),
        _ => {}
    }
}
