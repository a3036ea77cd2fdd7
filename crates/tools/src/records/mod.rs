//! The tools of the records surface, one file each.

pub mod activate;
pub mod activity;
pub mod close;
pub mod create;
pub mod create_many;
pub mod create_project;
pub mod diff;
pub mod get_project;
pub mod history;
pub mod list;
pub mod list_projects;
pub mod overview;
pub mod reference;
pub mod save;
pub mod search;
pub mod sessions;
pub mod sync;
pub mod transition;
pub mod update;

use serde_json::Value;
use understory_model::{Caller, Fault};

/// The fault for a project that cannot be, where nothing is yet.
fn no_project_yet(caller: &Caller, named: Option<&str>) -> Result<(), Fault> {
    understory_engine::project::nothing_yet(caller, named)
}

/// Refuses a name that no project can have, by the name of the argument it came in.
fn check_project(field: &str, named: Option<&str>) -> Result<(), Fault> {
    match named {
        Some(name) => understory_engine::project::check_name_in(field, name),
        None => Ok(()),
    }
}

/// What of a written record is told to a caller that wants no echo of it.
const HEAD: [&str; 5] = ["id", "title", "state", "parent_id", "modified"];

/// The answer of a write, with as much of the record as the caller wants to read again.
fn echoed(mut answer: Value, echo: Option<bool>) -> Value {
    if echo == Some(false)
        && let Some(record) = answer["record"].as_object_mut()
    {
        record.retain(|name, _| HEAD.contains(&name.as_str()));
    }
    answer
}
