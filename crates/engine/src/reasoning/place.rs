//! Which document a call means: that of a graph node, or one that is named by branch and name.

use serde_json::{Value, json};
use understory_model::branch::check_name;
use understory_model::error::{Code, Fault, Result};
use understory_model::nearest::nearest;
use understory_model::{Id, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{Tx, branches};

use super::check_word;
use crate::projection::NODE;
use crate::view::{Sought, missing, no_such};

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

    pub fn shown(&self) -> Value {
        json!({
            "branch": self.branch,
            "notes_doc": self.doc(Kind::Notes),
            "trace_doc": self.doc(Kind::Trace),
            "graph_doc": self.doc(Kind::Graph),
        })
    }
}

fn own_doc(handle: &str, kind: Kind) -> String {
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

/// The handle of the graph node that a branch belongs to, by its name.
pub fn node_of_branch(branch: &str) -> Option<&str> {
    let (family, handle) = branch.split_once('/')?;
    let fits = match family {
        "task" => handle.starts_with("TASK-"),
        "plan" => handle.starts_with("PLAN-"),
        _ => false,
    };
    fits.then_some(handle)
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
pub fn target(tx: &mut Tx<'_>, ws: Ws, handle: &str) -> Result<Reference> {
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
pub fn node(tx: &mut Tx<'_>, ws: Ws, handle: &str) -> Result<Option<Entity>> {
    let found = entities::by_handle(tx, ws, handle)?;
    Ok(found.filter(|entity| entity.kind == NODE))
}

/// The fault for a target where nothing is yet.
pub fn no_target(handle: &str) -> Fault {
    let mut fault = missing(Sought::Node, handle, []);
    fault.code = Code::UnknownTarget;
    fault.hint = Some("graph_plan makes tasks.".into());
    fault
}

/// Refuses a branch that does not exist, naming the nearest that do: a typo must not fork memory.
pub fn check_branch(tx: &mut Tx<'_>, ws: Ws, name: &str) -> Result<()> {
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
    let shown: String = name.chars().take(80).collect();
    let fault = Fault::new(Code::UnknownBranch, format!("no branch {shown}"));
    let near = nearest(name, names.iter().map(String::as_str), 3);
    if near.is_empty() {
        return fault
            .hint("branchmind_branch_list lists branches; branchmind_branch_create makes one.");
    }
    fault
        .hint(format!("Did you mean {}?", near.join(" or ")))
        .details(json!({ "nearest": near }))
}

/// The branch that is checked out.
pub fn checkout(tx: &mut Tx<'_>, ws: Ws) -> Result<String> {
    let found = entities::by_handle(tx, ws, CHECKOUT)?;
    let data: Value = found
        .and_then(|entity| serde_json::from_str(&entity.data).ok())
        .unwrap_or_default();
    Ok(data["ref"].as_str().unwrap_or(MAIN).to_string())
}

/// The name of a document.
pub fn check_doc(doc: &str) -> Result<()> {
    check_word("doc", doc)
}

/// The document that is meant. With `both`, a target may go with another branch.
pub fn find(tx: &mut Tx<'_>, ws: Ws, wanted: &Wanted, kind: Kind, both: bool) -> Result<Place> {
    if let Some(handle) = &wanted.target {
        if wanted.doc.is_some() || (wanted.branch.is_some() && !both) {
            return Err(exclusive());
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
        None => default_doc(&branch, kind),
    };
    check_doc(&doc)?;
    Ok(Place { branch, doc })
}

pub fn exclusive() -> Fault {
    Fault::invalid(
        "target",
        "cannot be combined with branch or a document name",
    )
    .hint("Give either target, or branch and doc.")
}

/// The document of a branch when none is named: that of its node, where it belongs to one.
pub fn default_doc(branch: &str, kind: Kind) -> String {
    match (node_of_branch(branch), kind) {
        (Some(handle), _) => own_doc(handle, kind),
        (None, Kind::Notes) => "notes".into(),
        (None, Kind::Trace) => "trace".into(),
        (None, Kind::Graph) => "graph".into(),
    }
}

/// As [`find`], before the workspace's first write: only the first branch is there.
pub fn find_nothing(wanted: &Wanted, kind: Kind) -> Result<Place> {
    if let Some(handle) = &wanted.target {
        return Err(no_target(handle));
    }
    let branch = wanted.branch.clone().unwrap_or_else(|| MAIN.into());
    check_name(&branch)?;
    if branch != MAIN {
        return Err(unknown_branch(&branch, &[MAIN.to_string()]));
    }
    let doc = wanted
        .doc
        .clone()
        .unwrap_or_else(|| default_doc(&branch, kind));
    check_doc(&doc)?;
    Ok(Place { branch, doc })
}
