//! A read in progress: one snapshot of one workspace.

use understory_model::error::{Fault, Result};
use understory_model::nearest::nearest;
use understory_model::text::{quoted, quoted_list};
use understory_model::{Caller, Id, Time, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{ReadTx, Tx};

use crate::Rules;
use crate::kernel::meaning::Kept;
use crate::kinds::{NODE, RECORD, THREAD};

/// One snapshot of one workspace.
pub struct View<'v, 'c> {
    pub tx: &'v mut Tx<'c>,
    pub ws: Ws,
    /// The workspace's real name, which a clash of names may have changed.
    pub name: &'v str,
    /// Who reads.
    pub caller: &'v Caller,
    /// The name of the caller's own project.
    pub project: &'v str,
    pub now: Time,
    pub rules: Rules,
    /// What texts point at, for search by meaning.
    pub vectors: &'v Kept,
}

impl View<'_, '_> {
    pub fn entity(&mut self, id: Id) -> Result<Option<Entity>> {
        entities::get(self.tx, self.ws, id)
    }
}

/// What somebody asked for by a name that nothing has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    Node,
    Record,
    Thread,
    Artifact,
    Conversation,
    Project,
    /// Whatever has names at all.
    Anything,
}

impl Sought {
    /// The kind of entity; `None` for what is not named by a handle, and for anything.
    fn kind(self) -> Option<&'static str> {
        match self {
            Sought::Node => Some(NODE),
            Sought::Record => Some(RECORD),
            Sought::Thread => Some(THREAD),
            Sought::Artifact | Sought::Conversation | Sought::Project | Sought::Anything => None,
        }
    }

    fn absent(self, name: &str) -> String {
        let name = quoted(name);
        match self {
            Sought::Node => format!("there is no node {name}"),
            Sought::Record => format!("there is no record {name}"),
            Sought::Thread => format!("there is no thread {name}"),
            Sought::Artifact => format!("there is no artifact {name}"),
            Sought::Conversation => format!("there is no conversation {name}"),
            Sought::Project => format!("there is no project {name}"),
            Sought::Anything => format!("there is nothing named {name}"),
        }
    }

    /// The tool that lists what there is.
    fn hint(self) -> &'static str {
        match self {
            Sought::Node => "graph_query lists nodes.",
            Sought::Record => "list_records lists records; search_records finds them by words.",
            Sought::Thread => "list_threads lists threads.",
            Sought::Artifact => "garden_artifact_list lists artifacts.",
            Sought::Conversation => "garden_stack lists conversations.",
            Sought::Project => "list_projects lists projects; create_project makes one.",
            Sought::Anything => "`search` finds things by words or by a handle.",
        }
    }
}

/// Nothing has this handle: says so, with the nearest that exist.
pub fn no_such(tx: &mut ReadTx<'_>, ws: Ws, sought: Sought, handle: &str) -> Result<Fault> {
    let near = entities::handles_near(tx, ws, sought.kind(), handle, 20)?;
    Ok(missing(sought, handle, near.iter().map(String::as_str)))
}

/// The fault for a name that does not exist, suggesting those that do.
pub fn missing<'n>(
    sought: Sought,
    handle: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Fault {
    let fault = Fault::not_found(sought.absent(handle));
    let near = nearest(handle, names, 3);
    if near.is_empty() {
        return fault.hint(sought.hint());
    }
    fault
        .hint(format!("Did you mean {}?", quoted_list(&near, " or ")))
        .detail("nearest", near)
}

/// Handles of nodes or records that begin with these letters, newest first while there are none.
pub fn handles(
    view: &mut View<'_, '_>,
    sought: Sought,
    begins: &str,
    most: i64,
) -> Result<Vec<String>> {
    let Some(kind) = sought.kind() else {
        return Ok(Vec::new());
    };
    if begins.is_empty() {
        return entities::newest_of(view.tx, view.ws, kind, Id::MAX, most);
    }
    // Handles are written in capitals, and people type as they like.
    let begins = begins.to_ascii_uppercase();
    let near = entities::handles_near(view.tx, view.ws, Some(kind), &begins, most)?;
    let fits = |handle: &String| handle.starts_with(&begins);
    Ok(near.into_iter().filter(fits).collect())
}
