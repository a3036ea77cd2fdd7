//! The tools of the garden surface, one file each.

pub mod artifact;
pub mod conversation;
pub mod entity;
pub mod reader;
pub mod relation;
pub mod timeline;

use understory_engine::View;
use understory_engine::kernel::names::Scope;
use understory_engine::kernel::project;
use understory_model::Fault;

/// Where the names of a read are looked up: in the project that the call names, which must exist.
pub fn scope<'v>(view: &mut View<'v, '_>, project: Option<&str>) -> Result<Scope<'v>, Fault> {
    project::to_read(view, view.caller, project)?;
    view.scope(project)
}
