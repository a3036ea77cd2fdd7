//! Conversations: each project has a root, and each participant stands somewhere.

pub mod collapse;
pub mod fork;
pub mod frame;
pub mod latest;
pub mod log;
pub mod reopen;
pub mod stack;

use serde_json::{Map, Value};
use understory_model::error::{Fault, Result};
use understory_model::{Id, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{ReadTx, logs};

use crate::Work;
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Scope};
use crate::kernel::work::Create;
use crate::kinds::{EntityKind, LOG};

/// The handle of a project's first conversation.
pub fn root_handle(project: Id) -> String {
    format!("log:{project}:root")
}

/// The root of a project, where it has one yet.
pub fn root(tx: &mut ReadTx<'_>, ws: Ws, project: Id) -> Result<Option<Entity>> {
    entities::by_handle(tx, ws, &root_handle(project))
}

/// The root of a project, made when it is first needed.
pub fn root_to_write(work: &mut Work<'_, '_>, project: Id) -> Result<Id> {
    let handle = root_handle(project);
    if let Some(id) = work.by_handle(&handle)? {
        return Ok(id);
    }
    let mut data = Map::new();
    data.insert("parent_uuid".into(), Value::Null);
    data.insert("summary".into(), Value::Null);
    work.create(Create {
        kind: EntityKind::Log,
        handle,
        project: Some(project),
        data,
        ..Create::default()
    })
}

/// The conversation that a call writes to: the one named, else the caller's own. It must be open.
pub fn to_write(work: &mut Work<'_, '_>, project: Id, named: Option<&str>) -> Result<Id> {
    let ws = work.ws();
    let scope = Scope::ids(ws, work.caller);
    let log = match named {
        Some(named) => find(work.read()?, scope, "log", named)?.id,
        None => {
            let agent = work.caller.agent.clone();
            match logs::get_frame(work.read()?, ws, project, &agent)? {
                Some(frame) => frame.log,
                None => root_to_write(work, project)?,
            }
        }
    };
    check_open(work.thing(log)?)?;
    Ok(log)
}

/// A conversation by its name.
pub fn find(tx: &mut ReadTx<'_>, scope: Scope<'_>, field: &str, named: &str) -> Result<Entity> {
    let scope = Scope::ids(scope.ws, scope.caller);
    let entity = names::entity(tx, scope, field, named)?;
    if entity.kind == LOG {
        Ok(entity)
    } else {
        Err(Fault::invalid(field, "must name a conversation")
            .hint("garden_stack names the conversations of a project."))
    }
}

/// Refuses what was collapsed.
pub fn check_open(log: &Thing) -> Result<()> {
    let Some(summary) = log.data.get("summary").filter(|summary| !summary.is_null()) else {
        return Ok(());
    };
    Err(
        Fault::conflict("the conversation was collapsed and takes no more items")
            .detail("summary", &summary["content"])
            .hint("garden_reopen goes on in a new one."),
    )
}
