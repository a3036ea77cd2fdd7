//! `graph_query`: nodes by any mix of filters, a page at a time.

use serde_json::{Map, Value, json};
use understory_model::Caller;
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::page::{Cursor, Key};
use understory_model::text::fold;
use understory_storage::nodes;
pub use understory_storage::query::Sort;
use understory_storage::query::{self, Filter, Found, Prepared};

use crate::View;
use crate::core::Thing;
use crate::graph::{fields, find, project};
use understory_storage::projects::Project;

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

pub fn query(
    view: Option<&mut View<'_, '_>>,
    caller: &Caller,
    wanted: &Wanted,
    budget: &Budget,
) -> Result<Value> {
    let kind = wanted.cursor_kind();
    let after = match &wanted.cursor {
        Some(cursor) => Some(wanted.check_keys(Cursor::decode(cursor, kind)?)?),
        None => None,
    };
    let nothing = json!({ "nodes": [], "total": 0 });
    let Some(view) = view else {
        project::nothing_yet(caller, wanted.project.as_deref())?;
        return Ok(nothing);
    };
    let Some(home) = project::to_read(view, caller, wanted.project.as_deref())? else {
        return Ok(nothing);
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
    let shown = page
        .into_iter()
        .map(shown)
        .collect::<Result<Vec<Value>>>()?;
    let answer = json!({ "nodes": shown, "total": total });
    Ok(crate::view::page(answer, "nodes", (&cursors, more), budget))
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

fn shown(found: Found) -> Result<Value> {
    let thing = Thing::open(found.entity)?;
    let mut node = Map::new();
    node.insert("id".into(), thing.entity.handle.clone().into());
    node.insert("summary".into(), fields::summary(&thing.data).into());
    node.insert("resolved".into(), fields::resolved(&thing.data).into());
    if let Some(state) = thing.data.get("state") {
        node.insert("state".into(), state.clone());
    }
    if let Some(parent) = found.parent {
        node.insert("parent".into(), parent.into());
    }
    node.insert("depth".into(), found.depth.into());
    let properties = thing.data.get("properties").cloned().unwrap_or(json!({}));
    node.insert("properties".into(), properties);
    Ok(Value::Object(node))
}
