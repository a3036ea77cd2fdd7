//! Which document a call means: that of a graph node, or one that is named by branch and name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::branch::{check_name, node_of_branch};
use understory_model::error::{Code, Fault, Result};
use understory_model::nearest::nearest;
use understory_model::text::{quoted, quoted_list};
use understory_model::{Id, Seq, Time, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{ReadTx, branches, items};

use super::check_word;
use crate::kernel::view::{Sought, no_such};
use crate::kinds::NODE;

/// The branch that is there from the start.
pub const MAIN: &str = "main";
/// The handle of the entity that says which branch is checked out.
pub const CHECKOUT: &str = "checkout";

/// What a document is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Notes,
    Trace,
    Graph,
}

/// How a caller names a document.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub target: Option<String>,
    pub branch: Option<String>,
    pub doc: Option<String>,
}

/// A document of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub branch: String,
    pub doc: String,
}

/// The branch and documents of a graph node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub id: Id,
    pub handle: String,
    pub branch: String,
}

impl Reference {
    pub fn doc(&self, kind: Kind) -> String {
        own_doc(&self.handle, kind)
    }

    pub fn shown(&self) -> Documents {
        Documents {
            branch: self.branch.clone(),
            notes_doc: self.doc(Kind::Notes),
            trace_doc: self.doc(Kind::Trace),
            graph_doc: self.doc(Kind::Graph),
        }
    }
}

/// Where the reasoning about a plan or task is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Documents {
    pub branch: String,
    pub notes_doc: String,
    pub trace_doc: String,
    pub graph_doc: String,
}

pub fn own_doc(handle: &str, kind: Kind) -> String {
    match kind {
        Kind::Notes => "notes".into(),
        Kind::Trace => format!("{handle}-trace"),
        Kind::Graph => format!("{handle}-graph"),
    }
}

/// The branch of a graph node.
pub fn canonical(handle: &str) -> String {
    let family = if handle.starts_with("PLAN-") {
        "plan"
    } else {
        "task"
    };
    format!("{family}/{handle}")
}

/// The graph node that a document belongs to, by its name, and what it is for.
pub fn node_of_doc(doc: &str) -> Option<(&str, Kind)> {
    let (handle, kind) = match doc.strip_suffix("-trace") {
        Some(handle) => (handle, Kind::Trace),
        None => (doc.strip_suffix("-graph")?, Kind::Graph),
    };
    let fits = handle.starts_with("TASK-") || handle.starts_with("PLAN-");
    fits.then_some((handle, kind))
}

/// A graph node that a call names as its target.
pub fn target(tx: &mut ReadTx<'_>, ws: Ws, handle: &str) -> Result<Reference> {
    match node(tx, ws, handle)? {
        Some(entity) => Ok(Reference {
            id: entity.id,
            branch: canonical(&entity.handle),
            handle: entity.handle,
        }),
        None => {
            let mut fault = no_such(tx, ws, Sought::Node, handle)?;
            fault.code = Code::UnknownTarget;
            Err(fault)
        }
    }
}

/// A graph node, gone or not: its reasoning outlives it.
pub fn node(tx: &mut ReadTx<'_>, ws: Ws, handle: &str) -> Result<Option<Entity>> {
    let found = entities::by_handle(tx, ws, handle)?;
    Ok(found.filter(|entity| entity.kind == NODE))
}

/// Refuses a branch that does not exist, naming the nearest that do: a typo must not fork memory.
pub fn check_branch(tx: &mut ReadTx<'_>, ws: Ws, name: &str) -> Result<()> {
    check_name(name)?;
    if name == MAIN || branches::get(tx, ws, name)?.is_some() {
        return Ok(());
    }
    if let Some(handle) = node_of_branch(name)
        && node(tx, ws, handle)?.is_some()
    {
        return Ok(());
    }
    let mut names: Vec<String> = branches::list(tx, ws, "", 1_000)?
        .into_iter()
        .map(|branch| branch.name)
        .collect();
    names.push(MAIN.into());
    if let Some(handle) = node_of_branch(name) {
        names.extend(
            entities::handles_near(tx, ws, Some(NODE), handle, 5)?
                .iter()
                .map(|near| canonical(near)),
        );
    }
    Err(unknown_branch(name, &names))
}

/// The fault for a branch that does not exist.
pub fn unknown_branch(name: &str, names: &[String]) -> Fault {
    let fault = Fault::new(Code::UnknownBranch, format!("no branch {}", quoted(name)));
    let near = nearest(name, names.iter().map(String::as_str), 3);
    if near.is_empty() {
        return fault.hint("branchmind_branch_list lists the branches.");
    }
    fault
        .hint(format!("Did you mean {}?", quoted_list(&near, " or ")))
        .detail("nearest", &near)
}

/// The branch that is checked out.
pub fn checkout(tx: &mut ReadTx<'_>, ws: Ws) -> Result<String> {
    Ok(checked_out(tx, ws)?.current)
}

/// The branch that is checked out in the workspace, for all its agents, and who did it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Checkout {
    /// The branch that calls mean when they name none.
    pub current: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_out_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_out_at: Option<Time>,
}

/// What the entity that says which branch is checked out keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Chosen {
    #[serde(rename = "ref")]
    pub branch: Option<String>,
}

impl Default for Checkout {
    fn default() -> Checkout {
        Checkout {
            current: MAIN.into(),
            checked_out_by: None,
            checked_out_at: None,
        }
    }
}

pub fn checked_out(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Checkout> {
    let Some(entity) = entities::by_handle(tx, ws, CHECKOUT)? else {
        return Ok(Checkout::default());
    };
    let chosen: Chosen = serde_json::from_str(&entity.data).unwrap_or_default();
    let last = items::of_entity(tx, ws, entity.id, Seq::MAX, 1)?.pop();
    Ok(Checkout {
        current: chosen.branch.unwrap_or_else(|| MAIN.into()),
        checked_out_at: last.as_ref().map(|item| item.realized_at),
        checked_out_by: last.map(|item| item.actor),
    })
}

/// The name of a document.
pub fn check_doc(doc: &str) -> Result<()> {
    check_word("doc", doc)
}

/// The document that is meant. With `both`, a target may go with another branch.
pub fn find(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Wanted, kind: Kind, both: bool) -> Result<Place> {
    if let Some(handle) = &wanted.target {
        let odd = [
            ("doc", wanted.doc.is_some()),
            ("branch", wanted.branch.is_some() && !both),
        ];
        if let Some((field, _)) = odd.iter().find(|(_, given)| *given) {
            return Err(exclusive(field));
        }
        let reference = target(tx, ws, handle)?;
        let branch = match &wanted.branch {
            Some(branch) => {
                check_branch(tx, ws, branch)?;
                branch.clone()
            }
            None => reference.branch.clone(),
        };
        let doc = reference.doc(kind);
        return Ok(Place { branch, doc });
    }
    let branch = match &wanted.branch {
        Some(branch) => branch.clone(),
        None => checkout(tx, ws)?,
    };
    check_branch(tx, ws, &branch)?;
    let doc = match &wanted.doc {
        Some(doc) => doc.clone(),
        None => default_doc(tx, ws, &branch, kind)?,
    };
    check_doc(&doc)?;
    Ok(Place { branch, doc })
}

/// The fault for a target beside a field that names a document in another way.
pub fn exclusive(field: &str) -> Fault {
    Fault::invalid(field, "cannot be combined with target")
        .hint("Give either target, or a branch and its documents.")
}

/// The document of a branch when none is named: that of the node whose line it is of.
pub fn default_doc(tx: &mut ReadTx<'_>, ws: Ws, branch: &str, kind: Kind) -> Result<String> {
    common_doc(tx, ws, [branch, branch], kind)
}

/// As [`default_doc`], for two branches: that of a node where one of them is of a node's line.
pub fn common_doc(tx: &mut ReadTx<'_>, ws: Ws, branches: [&str; 2], kind: Kind) -> Result<String> {
    let [one, other] = branches;
    let node = match node_of_line(tx, ws, one)? {
        None if other != one => node_of_line(tx, ws, other)?,
        node => node,
    };
    Ok(node.map_or_else(|| plain_doc(kind), |handle| own_doc(&handle, kind)))
}

/// The document that a call about two branches means, once both are known to be there.
pub fn of_both(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    branches: [&str; 2],
    named: Option<&str>,
    kind: Kind,
) -> Result<String> {
    for branch in branches {
        check_branch(tx, ws, branch)?;
    }
    match named {
        Some(doc) => Ok(doc.to_string()),
        None => common_doc(tx, ws, branches, kind),
    }
}

/// The document of a branch that has nothing to do with a graph node.
pub fn plain_doc(kind: Kind) -> String {
    match kind {
        Kind::Notes => "notes".into(),
        Kind::Trace => "trace".into(),
        Kind::Graph => "graph".into(),
    }
}

/// The graph node that a branch belongs to or, through any number of branches, was made from.
pub fn node_of_line(tx: &mut ReadTx<'_>, ws: Ws, branch: &str) -> Result<Option<String>> {
    if let Some(handle) = node_of_branch(branch) {
        return Ok(Some(handle.to_string()));
    }
    let made = branches::get(tx, ws, branch)?;
    Ok(made.and_then(|made| node_of_branch(&made.root).map(str::to_string)))
}
