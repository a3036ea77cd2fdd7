//! The tools of the garden surface, one file each.

pub mod artifact;
pub mod conversation;
pub mod entity;
pub mod reader;
pub mod relation;
pub mod timeline;

use serde_json::Value;
use understory_engine::View;
use understory_engine::kernel::names::Scope;
use understory_engine::kernel::project;
use understory_model::Fault;

use crate::call::Call;

pub use understory_engine::kernel::names::nothing_yet;

/// Reads with the project that a call names checked; `nothing` answers before the first write.
pub fn read(
    context: &Call<'_>,
    project: Option<&str>,
    nothing: impl FnOnce() -> Result<Value, Fault>,
    work: impl FnOnce(&mut View<'_, '_>) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    context.engine.read(context.caller, |view| match view {
        Some(view) => {
            project::to_read(view, context.caller, project)?;
            work(view)
        }
        None => {
            project::nothing_yet(context.caller, project)?;
            nothing()
        }
    })
}

/// Where the names of a read are looked up: in the project that the call names, which must exist.
pub fn scope<'v>(view: &mut View<'v, '_>, project: Option<&str>) -> Result<Scope<'v>, Fault> {
    project::to_read(view, view.caller, project)?;
    view.scope(project)
}
