//! `garden_frame`: in which conversation a participant stands, and up to which item it has seen it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Fault, Result};
use understory_model::fact::{self, Fact, FrameMoved, FrameNames};
use understory_model::id::item_name;
use understory_model::{Id, Seq, Ws};
use understory_storage::logs::Frame;
use understory_storage::{ReadTx, items, logs as rows};

use crate::garden::conversation::log::{named, shows};
use crate::garden::conversation::{check_open, root, root_to_write};
use crate::kernel::titles::log_of;
use crate::kernel::{names, project};
use crate::{View, Work};

/// Where the caller goes.
#[derive(Debug, Clone)]
pub struct Move {
    pub project: Option<String>,
    pub log: Option<String>,
    pub head: Option<String>,
}

impl Move {
    pub fn only_looks(&self) -> bool {
        self.log.is_none() && self.head.is_none()
    }
}

/// The answer of `garden_frame`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Framed {
    pub frame: FrameShape,
}

/// Where a participant stands.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FrameShape {
    pub participant: String,
    #[serde(flatten)]
    pub place: Place,
}

/// A conversation, and how far somebody has seen it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// `uuid_<uuid>`; null where the project has no conversation yet.
    pub branch_uuid: Option<String>,
    /// The last item seen: `item_<uuid>`.
    pub head: Option<String>,
}

/// Where the caller stands: in its project's root, if it never went elsewhere.
pub fn show(view: &mut View<'_, '_>, named: Option<&str>) -> Result<Framed> {
    let agent = &view.caller.agent;
    let nowhere = FrameShape {
        participant: agent.clone(),
        place: Place {
            branch_uuid: None,
            head: None,
        },
    };
    let Some(project) = project::to_read(view, view.caller, named)? else {
        return Ok(Framed { frame: nowhere });
    };
    let (tx, ws) = (&mut *view.tx, view.ws);
    let frame = match rows::get_frame(tx, ws, project.id, agent)? {
        Some(frame) => shape(tx, ws, &frame)?,
        None => match root(tx, ws, project.id)? {
            Some(root) => shape(tx, ws, &at(project.id, agent, root.id, None))?,
            None => nowhere,
        },
    };
    Ok(Framed { frame })
}

fn at(project: Id, participant: &str, log: Id, head: Option<Seq>) -> Frame {
    Frame {
        project,
        participant: participant.to_string(),
        log,
        head,
    }
}

/// A frame as it is shown.
pub fn shape(tx: &mut ReadTx<'_>, ws: Ws, frame: &Frame) -> Result<FrameShape> {
    let head = match frame.head {
        Some(seq) => items::get(tx, ws, seq)?.map(|item| item_name(&item.uuid)),
        None => None,
    };
    Ok(FrameShape {
        participant: frame.participant.clone(),
        place: Place {
            branch_uuid: log_of(tx, ws, frame.log)?,
            head,
        },
    })
}

/// Moves the caller's frame.
pub fn go(work: &mut Work<'_, '_>, wish: &Move) -> Result<Framed> {
    let ws = work.ws();
    let agent = work.caller.agent.clone();
    let (project, log) = match &wish.log {
        Some(log) => named(work, wish.project.as_deref(), "log", log)?,
        None => {
            let project = project::to_write(work, wish.project.as_deref(), false)?;
            let frame = rows::get_frame(work.read()?, ws, project, &agent)?;
            match frame {
                Some(frame) => (project, frame.log),
                None => (project, root_to_write(work, project)?),
            }
        }
    };
    check_open(work.thing(log)?)?;
    let head = match &wish.head {
        Some(head) => Some(seen(work, log, head)?),
        None => rows::last(work.read()?, ws, log)?,
    };
    let frame = stand(work, at(project, &agent, log, head))?;
    Ok(Framed { frame })
}

/// An item that a conversation shows, by its name.
fn seen(work: &mut Work<'_, '_>, log: Id, head: &str) -> Result<Seq> {
    let (ws, scope) = (work.ws(), work.scope()?);
    let seq = names::item(work.read()?, scope, "head", head)?.seq;
    if shows(work.read()?, ws, log, seq)? {
        Ok(seq)
    } else {
        Err(
            Fault::invalid("head", "must be an item of that conversation")
                .hint("garden_log with inherited lists them."),
        )
    }
}

/// Has a participant stand somewhere, unless it stands there already; its frame.
pub fn stand(work: &mut Work<'_, '_>, frame: Frame) -> Result<FrameShape> {
    let ws = work.ws();
    let shown = shape(work.read()?, ws, &frame)?;
    let before = rows::get_frame(work.read()?, ws, frame.project, &frame.participant)?;
    if before.as_ref() == Some(&frame) {
        return Ok(shown);
    }
    // The numbers are for core, the names for readers of the timeline.
    let moved = FrameMoved {
        fields: FrameNames {
            branch_uuid: shown.place.branch_uuid.clone(),
            head: shown.place.head.clone(),
            participant: frame.participant.clone(),
        },
        frame: fact::Frame {
            head: frame.head,
            log: frame.log,
        },
    };
    work.note(Some(frame.project), Fact::FrameMoved(moved))?;
    Ok(shown)
}
