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

use crate::tool::Tool;
use understory_model::Fault;

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    create_project::TOOL,
    list_projects::TOOL,
    get_project::TOOL,
    overview::TOOL,
    search::TOOL,
    list::TOOL,
    reference::TOOL,
    activate::TOOL,
    sync::TOOL,
    create::TOOL,
    create_many::TOOL,
    update::TOOL,
    transition::TOOL,
    save::TOOL,
    close::TOOL,
    history::TOOL,
    diff::TOOL,
    sessions::TOOL,
    activity::TOOL,
];

/// What `seen` says, where a tool changes records.
const SEEN: &str = "versions of records, by id, that you saw without activating them; those records need not be active";

/// Refuses a name that no project can have, by the name of the argument it came in.
fn check_project(field: &str, named: Option<&str>) -> Result<(), Fault> {
    match named {
        Some(name) => understory_engine::kernel::project::check_name_in(field, name),
        None => Ok(()),
    }
}
