//! Why nothing is next: everything is done, claimed, waiting, or nothing was planned.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::text::{cut, quoted};
use understory_model::{Id, Ws};
use understory_storage::projects::Project;
use understory_storage::query::{self, Filter};
use understory_storage::ready::{self, Ready};
use understory_storage::{ReadTx, entities, nodes};

use crate::graph::claim::{self, Expiry, Held};
use crate::graph::cycle;
use crate::kernel::content::brief::Brief;
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;

/// Claims, and nodes waited for, that one answer names.
const NAMED: i64 = 5;

/// The kinds of reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    NothingPlanned,
    AllDone,
    /// The filter fits no open node.
    NoMatch,
    AllClaimed,
    AllWaiting,
    /// Nodes wait for each other in a circle.
    Deadlock,
}

/// Why nothing is next.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    pub code: Code,
    /// The same in a sentence.
    pub message: String,
    /// Of what was asked about: open nodes, those with an open dependency, and those that could be
    /// started if nobody held them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub open: i64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub blocked: i64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub claimed: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Held>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<Brief>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<String>,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// Where was asked.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub project: &'a str,
    /// The node below which was asked: its handle and id.
    pub scope: Option<(&'a str, Id)>,
}

impl Place<'_> {
    fn told(&self) -> String {
        match self.scope {
            Some((handle, _)) => format!("below {handle}"),
            None => format!("in {}", quoted(self.project)),
        }
    }
}

impl Reason {
    fn new(code: Code, message: String) -> Reason {
        Reason {
            code,
            message,
            open: 0,
            blocked: 0,
            claimed: 0,
            claims: Vec::new(),
            waits_for: Vec::new(),
            cycle: Vec::new(),
        }
    }

    /// There is no plan yet.
    pub fn nothing_planned(project: &str) -> Reason {
        let place = Place {
            project,
            scope: None,
        };
        let message = format!("Nothing is planned {} yet.", place.told());
        Reason::new(Code::NothingPlanned, message)
    }

    /// What an agent can do about it, with tools that it is shown from the start.
    pub fn hint(&self) -> &'static str {
        match self.code {
            Code::NothingPlanned => "graph_plan adds work.",
            Code::AllDone => "graph_plan adds work.",
            Code::NoMatch => "Ask without the filter, or with another.",
            Code::AllClaimed => "Wait for one to be finished or released, or plan more.",
            Code::AllWaiting => "graph_context of one shows what it waits for; finish that first.",
            Code::Deadlock => {
                "graph_connect (toolset graph) with remove: true takes a dependency away."
            }
        }
    }
}

/// Whether a project has a plan: its root alone is a goal, not yet work.
pub fn has_plan(home: &Project) -> bool {
    home.root.is_some() && (home.total > 1 || home.resolved > 0)
}

/// Says why `wanted` found nothing.
pub fn empty(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    home: &Project,
    wanted: &Ready<'_>,
    place: &Place<'_>,
    expiry: Expiry,
) -> Result<Reason> {
    if !has_plan(home) {
        return Ok(Reason::nothing_planned(place.project));
    }
    let [open, blocked, startable] = counted(tx, ws, home, wanted)?;
    let told = place.told();
    let mut reason = if open == 0 {
        none_open(tx, ws, home, wanted, &told)?
    } else if startable > 0 {
        let mut claims = Vec::new();
        for id in ready::held_now(tx, ws, wanted, NAMED)? {
            claims.extend(held(tx, ws, id, expiry)?);
        }
        let message = format!("Everything that can be started {told} is claimed.");
        Reason {
            claims,
            claimed: startable,
            ..Reason::new(Code::AllClaimed, message)
        }
    } else {
        waiting(tx, ws, home, wanted, place)?
    };
    (reason.open, reason.blocked) = (open, blocked);
    Ok(reason)
}

/// Open nodes, blocked ones, and those that could be started. Without scope and filter the counts
/// that are kept tell.
fn counted(tx: &mut ReadTx<'_>, ws: Ws, home: &Project, wanted: &Ready<'_>) -> Result<[i64; 3]> {
    if wanted.scope.is_none() && wanted.keys.is_empty() {
        return Ok([home.total - home.resolved, home.blocked, home.actionable]);
    }
    let open = Filter {
        resolved: Some(false),
        keys: wanted.keys.to_vec(),
        below: wanted.scope.map(str::to_string),
        ..Filter::default()
    };
    let blocked = Filter {
        blocked: Some(true),
        ..open.clone()
    };
    let startable = Filter {
        actionable: Some(true),
        ..open.clone()
    };
    let mut counts = [0; 3];
    for (count, filter) in counts.iter_mut().zip([open, blocked, startable]) {
        let prepared = query::prepare(tx, ws, &filter)?;
        *count = query::count(tx, ws, home.id, (&filter, &prepared))?;
    }
    Ok(counts)
}

fn none_open(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    home: &Project,
    wanted: &Ready<'_>,
    told: &str,
) -> Result<Reason> {
    let unfiltered = Ready {
        keys: &[],
        ..*wanted
    };
    let other = !wanted.keys.is_empty() && counted(tx, ws, home, &unfiltered)?[0] > 0;
    Ok(if other {
        let message = format!("No open node {told} matches the filter.");
        Reason::new(Code::NoMatch, message)
    } else {
        Reason::new(Code::AllDone, format!("Everything {told} is done."))
    })
}

fn held(tx: &mut ReadTx<'_>, ws: Ws, id: Id, expiry: Expiry) -> Result<Option<Held>> {
    let (node, entity) = (nodes::get(tx, ws, id)?, entities::get(tx, ws, id)?);
    match (node.as_ref().and_then(claim::of), entity) {
        (Some(claim), Some(entity)) => {
            claim::held(tx, ws, &entity.handle, &claim, expiry).map(Some)
        }
        _ => Ok(None),
    }
}

/// Everything open waits: for something elsewhere, or for itself.
fn waiting(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    home: &Project,
    wanted: &Ready<'_>,
    place: &Place<'_>,
) -> Result<Reason> {
    let told = place.told();
    let top = place.scope.map(|(_, id)| id).or(home.root);
    let path = match top {
        Some(top) => nodes::get(tx, ws, top)?.map(|node| node.path),
        None => None,
    };
    let mut waits_for = Vec::new();
    for id in nodes::awaited_elsewhere(tx, ws, path.as_deref().unwrap_or_default(), NAMED)? {
        waits_for.extend(brief(tx, ws, id)?);
    }
    let start = match place.scope {
        Some((_, id)) => Some(id),
        None => nodes::some_waiting(tx, ws, home.id)?,
    };
    if let Some(start) = start.filter(|_| waits_for.is_empty() && wanted.keys.is_empty())
        && let Some(path) = cycle::waiting(tx, ws, start)?
    {
        let mut names = Vec::with_capacity(path.len());
        for id in path {
            names.extend(entities::get(tx, ws, id)?.map(|entity| entity.handle));
        }
        let message = format!(
            "Nothing {told} can ever be started: {} wait for each other.",
            names.join(" → ")
        );
        return Ok(Reason {
            cycle: names,
            ..Reason::new(Code::Deadlock, message)
        });
    }
    let names: Vec<&str> = waits_for
        .iter()
        .map(|one: &Brief| one.id.as_str())
        .collect();
    let message = if names.is_empty() {
        format!("Nothing {told} can be started: all of it waits for something open.")
    } else {
        format!("Nothing {told} can be started before {}.", names.join(", "))
    };
    Ok(Reason {
        waits_for,
        ..Reason::new(Code::AllWaiting, message)
    })
}

fn brief(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Brief>> {
    let Some(entity) = entities::get(tx, ws, id)? else {
        return Ok(None);
    };
    let thing = Thing::open(entity)?;
    Ok(Some(Brief {
        summary: cut(fields::summary(&thing.data), 100),
        id: thing.entity.handle,
    }))
}

/// Why one named node cannot be started now: it is done, waits, or is somebody else's.
pub fn of_node(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    node: &nodes::Node,
    handle: &str,
    expiry: Expiry,
) -> Result<Reason> {
    if node.resolved {
        return Ok(Reason::new(Code::AllDone, format!("{handle} is done.")));
    }
    if node.standing == nodes::Standing::Ready {
        let claims: Vec<Held> = held(tx, ws, node.id, expiry)?.into_iter().collect();
        let message = format!("{handle} is claimed.");
        return Ok(Reason {
            claims,
            claimed: 1,
            open: 1,
            ..Reason::new(Code::AllClaimed, message)
        });
    }
    let mut waits_for = Vec::new();
    for id in cycle::waited_for(tx, ws, node.id)? {
        if waits_for.len() < NAMED as usize {
            waits_for.extend(brief(tx, ws, id)?);
        }
    }
    let names: Vec<&str> = waits_for
        .iter()
        .map(|one: &Brief| one.id.as_str())
        .collect();
    let message = format!("{handle} waits for {}.", names.join(", "));
    Ok(Reason {
        waits_for,
        open: 1,
        blocked: i64::from(node.open_deps > 0),
        ..Reason::new(Code::AllWaiting, message)
    })
}
