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

use understory_model::Fault;

/// Refuses a name that no project can have, by the name of the argument it came in.
fn check_project(field: &str, named: Option<&str>) -> Result<(), Fault> {
    match named {
        Some(name) => understory_engine::kernel::project::check_name_in(field, name),
        None => Ok(()),
    }
}
