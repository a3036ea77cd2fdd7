//! `graph_query`: nodes by any mix of filters, a page at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{Fit, Next, Shape};
use understory_model::budget::Drop;
use understory_model::error::{Fault, Result};
use understory_model::page::{Cursor, Key};
use understory_model::text::fold;
use understory_storage::nodes;
use understory_storage::projects::Project;
use understory_storage::query::{self, Filter, Found, Prepared};

use crate::View;
use crate::graph::{find, project};
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;

pub use understory_storage::query::Sort;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub project: Option<String>,
    pub resolved: Option<bool>,
    pub properties: Map<String, Value>,
    pub text: Option<String>,
    pub ancestor: Option<String>,
    pub has_evidence_type: Option<String>,
    pub is_leaf: Option<bool>,
    pub is_actionable: Option<bool>,
    pub is_blocked: Option<bool>,
    /// `Some(None)`: by nobody.
    pub claimed_by: Option<Option<String>>,
    /// Names of properties that it must not have.
    pub without: Vec<String>,
    pub sort: Option<Sort>,
    pub limit: i64,
    pub cursor: Option<String>,
}

impl Wanted {
    fn sort(&self) -> Sort {
        self.sort.unwrap_or(Sort::Readiness)
    }

    /// A cursor of one order makes no sense in another.
    fn cursor_kind(&self) -> &'static str {
        match self.sort() {
            Sort::Readiness => "graph.readiness",
            Sort::Depth => "graph.depth",
            Sort::Recent => "graph.recent",
            Sort::Created => "graph.created",
        }
    }

    /// A cursor is given out by us, but comes back from outside.
    fn check_keys(&self, cursor: Cursor) -> Result<Cursor> {
        let fits = match (self.sort(), cursor.keys.as_slice()) {
            (Sort::Readiness, keys) => matches!(
                keys,
                [
                    Key::Int(_),
                    Key::Real(_) | Key::Int(_),
                    Key::Int(_),
                    Key::Int(_),
                    Key::Int(_)
                ]
            ),
            (Sort::Depth | Sort::Recent, keys) => matches!(keys, [Key::Int(_), Key::Int(_)]),
            (Sort::Created, keys) => matches!(keys, [Key::Int(_)]),
        };
        if fits {
            return Ok(cursor);
        }
        Err(
            Fault::invalid("cursor", "is not one that was given out here")
                .hint("Start again without a cursor."),
        )
    }

    fn filter(&self, view: &mut View<'_, '_>) -> Result<Filter> {
        let below = match &self.ancestor {
            Some(ancestor) => {
                let id = find(view, ancestor)?.id;
                nodes::get(view.tx, view.ws, id)?.map(|node| node.path)
            }
            None => None,
        };
        let properties = self
            .properties
            .iter()
            .map(|(name, value)| fields::property_pair(name, value));
        let evidence = self
            .has_evidence_type
            .iter()
            .map(|kind| fields::evidence_pair(kind));
        Ok(Filter {
            resolved: self.resolved,
            keys: properties.chain(evidence).collect(),
            text: self.text.as_deref().map(fold),
            below,
            leaf: self.is_leaf,
            actionable: self.is_actionable,
            blocked: self.is_blocked,
            claimed_by: self.claimed_by.clone(),
            stale: view.now.minus(view.rules.claim_ttl),
            without: self
                .without
                .iter()
                .map(|name| fields::property_pair(name, &Value::Null).0)
                .collect(),
        })
    }
}

/// The answer of `graph_query`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    pub nodes: Vec<Match>,
    pub total: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The cursor of each node.
    #[serde(skip)]
    pub cursors: Vec<String>,
}

/// A node that was found.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Match {
    pub id: String,
    pub summary: String,
    pub resolved: bool,
    /// Whatever its owner defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    pub depth: i64,
    pub properties: Map<String, Value>,
}

impl Fit for Page {
    const SHAPE: Shape = Shape::Page {
        list: "nodes",
        drop: Drop::Last,
        cursor: "next_cursor",
    };

    fn cursor(&self, kept: usize) -> Option<Next> {
        Some(self.cursors.get(kept.checked_sub(1)?)?.clone().into())
    }
}

pub fn query(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<Page> {
    let kind = wanted.cursor_kind();
    let after = match &wanted.cursor {
        Some(cursor) => Some(wanted.check_keys(Cursor::decode(cursor, kind)?)?),
        None => None,
    };
    let caller = view.caller;
    let Some(home) = project::to_read(view, caller, wanted.project.as_deref())? else {
        return Ok(Page::default());
    };
    let filter = wanted.filter(view)?;
    let prepared = query::prepare(view.tx, view.ws, &filter)?;
    let keys = after.as_ref().map(|cursor| cursor.keys.as_slice());
    let (mut page, counted) = query::page(
        view.tx,
        view.ws,
        home.id,
        (&filter, &prepared),
        wanted.sort(),
        keys,
        wanted.limit + 1,
    )?;
    let more = page.len() as i64 > wanted.limit;
    let total = match (&after, more, counted) {
        // All of it is on this page.
        (None, false, _) => page.len() as i64,
        (_, _, Some(counted)) => counted,
        _ => total(view, &home, &filter, &prepared)?,
    };
    page.truncate(usize::try_from(wanted.limit).unwrap_or(0));
    let cursors: Vec<String> = page
        .iter()
        .map(|found| {
            Cursor {
                kind: kind.into(),
                keys: found.keys.clone(),
            }
            .encode()
        })
        .collect();
    let nodes = page
        .into_iter()
        .map(matched)
        .collect::<Result<Vec<Match>>>()?;
    Ok(Page {
        nodes,
        total,
        next_cursor: cursors.last().filter(|_| more).cloned(),
        cursors,
    })
}

/// Without a filter the counts that the engine keeps already tell.
fn total(
    view: &mut View<'_, '_>,
    home: &Project,
    filter: &Filter,
    prepared: &Prepared,
) -> Result<i64> {
    let unfiltered = Filter {
        resolved: filter.resolved,
        stale: filter.stale,
        ..Filter::default()
    };
    match (*filter == unfiltered, filter.resolved) {
        (true, None) => Ok(home.total),
        (true, Some(true)) => Ok(home.resolved),
        (true, Some(false)) => Ok(home.total - home.resolved),
        (false, _) => query::count(view.tx, view.ws, home.id, (filter, prepared)),
    }
}

fn matched(found: Found) -> Result<Match> {
    let thing = Thing::open(found.entity)?;
    Ok(Match {
        summary: fields::summary(&thing.data).to_string(),
        resolved: fields::resolved(&thing.data),
        state: thing.data.get("state").cloned(),
        parent: found.parent,
        depth: found.depth,
        properties: fields::all_properties(&thing.data),
        id: thing.entity.handle,
    })
}
