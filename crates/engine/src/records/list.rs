//! `list_records` and `get_record_ref`: records by their place, without their bodies.

use serde_json::{Map, Value, json};
use understory_model::Caller;
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::id::path_ids;
use understory_model::limits;
use understory_model::page::{Cursor, Key};
use understory_storage::keys::Pair;
use understory_storage::records::{self, From, Wanted};

use super::{fields, find, project, shape};
use crate::View;
use crate::graph::fields::metadata_pair;

const CURSOR: &str = "records.list";

/// Where a list begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The whole project.
    Everything,
    /// The topmost records.
    Roots,
    /// Below a record.
    Below(String),
}

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub start: Start,
    pub depth: Option<i64>,
    pub states: Vec<String>,
    pub types: Vec<String>,
    /// What the metadata must hold, as [`metadata`] reads it.
    pub metadata: Vec<Pair>,
    pub limit: i64,
    pub cursor: Option<String>,
}

pub fn check_filters(states: &[String], types: &[String]) -> Result<()> {
    check_length("states", states)?;
    check_length("types", types)?;
    for state in states {
        fields::check_state("states", state)?;
    }
    for kind in types {
        fields::check_type(kind)?;
    }
    Ok(())
}

/// Values of metadata that one filter may ask for.
const METADATA: usize = 32;

/// A filter of metadata: each value must be equal.
pub fn metadata(wanted: Option<&Map<String, Value>>) -> Result<Vec<Pair>> {
    let count = wanted.map_or(0, Map::len);
    if count > METADATA {
        let problem = format!("has {count} properties; at most {METADATA} are allowed");
        return Err(Fault::invalid("metadata", problem));
    }
    let pairs = wanted.into_iter().flatten();
    Ok(pairs
        .map(|(name, value)| metadata_pair(name, value))
        .collect())
}

/// A filter's values each take a place in a statement, and those are numbered.
pub fn check_length(field: &str, values: &[String]) -> Result<()> {
    let (length, most) = (values.len(), limits::LIST_LEN);
    if length > most {
        let problem = format!("has {length} entries; at most {most} are allowed");
        return Err(Fault::invalid(field, problem));
    }
    Ok(())
}

/// The place after which a page begins, as a cursor has it.
fn place(cursor: &str) -> Result<String> {
    let cursor = Cursor::decode(cursor, CURSOR)?;
    let path = cursor.text(0)?;
    match path_ids(path) {
        Some(_) => Ok(path.to_string()),
        None => Err(Fault::invalid("cursor", "does not fit this list")),
    }
}

pub fn list(
    view: &mut View<'_, '_>,
    caller: &Caller,
    named: Option<&str>,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let after = match &asked.cursor {
        Some(cursor) => place(cursor)?,
        None => String::new(),
    };
    let none = || Ok(json!({ "records": [], "total": 0 }));
    // A level is at least one; without a depth the whole project is listed, but of a tree only
    // what is directly below.
    let levels = asked
        .depth
        .map(|depth| depth.clamp(1, limits::RECORD_DEPTH));
    let path;
    // How many there are is known without counting, unless they are filtered.
    let (home, from, levels, known) = match &asked.start {
        Start::Below(handle) => {
            let thing = find(view, handle)?;
            project::check_holds(view, named, &thing)?;
            let Some(row) = records::get(view.tx, view.ws, thing.entity.id)? else {
                return none();
            };
            path = row.path;
            let levels = levels.unwrap_or(1);
            let known = (levels == 1).then_some(row.children);
            (row.project, From::Below(row.id, &path), Some(levels), known)
        }
        start => {
            let Some((home, _)) = project::find(view, caller, named)? else {
                return none();
            };
            let levels = match start {
                Start::Roots => levels.or(Some(1)),
                _ => levels,
            };
            let known = match levels {
                None => Some(home.records),
                Some(1) => Some(home.root_records),
                Some(_) => None,
            };
            (home.id, From::Roots, levels, known)
        }
    };
    // A reference takes more than a hundred characters, so no more than these can fit.
    let room = i64::try_from(budget.chars / 100).unwrap_or(i64::MAX - 1) + 1;
    let most = asked.limit.min(room);
    let everything = Wanted {
        project: home,
        from,
        levels,
        states: &asked.states,
        types: &asked.types,
        keys: &asked.metadata,
        after: "",
        most: 0,
    };
    let filtered =
        !asked.states.is_empty() || !asked.types.is_empty() || !asked.metadata.is_empty();
    let total = match known.filter(|_| !filtered) {
        Some(known) => known,
        None => records::count(view.tx, view.ws, &everything)?,
    };
    let wanted = Wanted {
        after: &after,
        most: most + 1,
        ..everything
    };
    let mut found = records::list(view.tx, view.ws, &wanted)?;
    let more = found.len() as i64 > most;
    found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    let cursors: Vec<String> = found
        .iter()
        .map(|row| Cursor::new(CURSOR, vec![Key::Text(row.path.clone())]).encode())
        .collect();
    let answer = json!({ "records": shape::references(&found), "total": total });
    Ok(crate::view::page(
        answer,
        "records",
        (&cursors, more),
        budget,
    ))
}

pub fn reference(view: &mut View<'_, '_>, handle: &str) -> Result<Value> {
    let thing = find(view, handle)?;
    let row = records::get(view.tx, view.ws, thing.entity.id)?;
    Ok(row.map_or(Value::Null, |row| shape::reference(&row)))
}
