//! `list_records` and `get_record_ref`: records by their place, without their bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{Fit, Next, Shape};
use understory_model::budget::{Budget, Drop};
use understory_model::error::{Fault, Result};
use understory_model::id::path_ids;
use understory_model::limits;
use understory_model::page::{Cursor, Key};
use understory_model::record::RecordState;
use understory_storage::keys::Pair;
use understory_storage::records::{self, From, Wanted};

use super::shape::{Reference, references};
use super::{fields, find, project};
use crate::View;
use crate::kernel::content::node::metadata_pair;

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
    pub filter: Filter,
    pub limit: i64,
    pub cursor: Option<String>,
}

/// Which records a list or search lets through; any where nothing is asked for.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    states: Vec<RecordState>,
    types: Vec<String>,
    /// What the metadata must hold.
    metadata: Vec<Pair>,
}

/// Values of metadata that one filter may ask for.
const METADATA: usize = 32;

impl Filter {
    pub fn new(
        states: Vec<RecordState>,
        types: Vec<String>,
        metadata: Option<&Map<String, Value>>,
    ) -> Result<Filter> {
        check_length("states", states.len())?;
        check_length("types", types.len())?;
        for kind in &types {
            fields::check_type(kind)?;
        }
        let count = metadata.map_or(0, Map::len);
        if count > METADATA {
            let problem = format!("has {count} properties; at most {METADATA} are allowed");
            return Err(Fault::invalid("metadata", problem));
        }
        let pairs = metadata.into_iter().flatten();
        Ok(Filter {
            states,
            types,
            metadata: pairs
                .map(|(name, value)| metadata_pair(name, value))
                .collect(),
        })
    }

    pub(super) fn states(&self) -> &[RecordState] {
        &self.states
    }

    pub(super) fn types(&self) -> &[String] {
        &self.types
    }

    pub(super) fn metadata(&self) -> &[Pair] {
        &self.metadata
    }

    fn is_empty(&self) -> bool {
        self.states.is_empty() && self.types.is_empty() && self.metadata.is_empty()
    }
}

/// The answer of `list_records`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Records {
    pub records: Vec<Reference>,
    /// How many there are in all pages.
    pub total: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The cursor of each record.
    #[serde(skip)]
    cursors: Vec<String>,
}

impl Fit for Records {
    const SHAPE: Shape = Shape::Page {
        list: "records",
        drop: Drop::Last,
        cursor: "next_cursor",
    };

    fn cursor(&self, kept: usize) -> Option<Next> {
        Some(self.cursors.get(kept.checked_sub(1)?)?.clone().into())
    }
}

/// A filter's values each take a place in a statement, and those are numbered.
pub fn check_length(field: &str, length: usize) -> Result<()> {
    let most = limits::LIST_LEN;
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
    named: Option<&str>,
    asked: &Asked,
    budget: &Budget,
) -> Result<Records> {
    let after = match &asked.cursor {
        Some(cursor) => place(cursor)?,
        None => String::new(),
    };
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
                return Ok(Records::default());
            };
            path = row.path;
            let levels = levels.unwrap_or(1);
            let known = (levels == 1).then_some(row.children);
            (row.project, From::Below(row.id, &path), Some(levels), known)
        }
        start @ (Start::Everything | Start::Roots) => {
            let Some((home, _)) = project::find(view, named)? else {
                return Ok(Records::default());
            };
            let levels = match start {
                Start::Roots => levels.or(Some(1)),
                Start::Everything | Start::Below(_) => levels,
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
        states: asked.filter.states(),
        types: asked.filter.types(),
        keys: asked.filter.metadata(),
        after: "",
        most: 0,
    };
    let total = match known.filter(|_| asked.filter.is_empty()) {
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
    Ok(Records {
        records: references(&found),
        total,
        next_cursor: cursors.last().filter(|_| more).cloned(),
        cursors,
    })
}
