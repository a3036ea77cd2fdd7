//! `garden_fork`: a conversation of its own, to explore in without disturbing the one it came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Code, Fault, Result};
use understory_model::name::{self, is_name};
use understory_model::text::{check_text, quoted};
use understory_model::{Caller, limits};
use understory_storage::logs as rows;
use understory_storage::logs::Frame;

use crate::Work;
use crate::garden::conversation::frame::{FrameShape, stand};
use crate::garden::conversation::log::{Conversation, New, create, named, shape};
use crate::garden::conversation::{check_open, root_to_write};
use crate::garden::system::{about, report};
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::event::Event;
use crate::kernel::project;
use crate::kernel::titles::log_of;

/// What is forked, and for whom.
#[derive(Debug, Clone)]
pub struct Fork {
    pub project: Option<String>,
    /// The caller's own where none is named.
    pub parent: Option<String>,
    /// Whose frame moves; the caller's where nobody is named.
    pub participant: Option<String>,
    /// What people call it.
    pub title: Option<String>,
}

impl Check for Fork {
    fn check(&self) -> Result<()> {
        if let Some(title) = &self.title {
            check_text("title", title, limits::NAME_CHARS, false)?;
            if title.chars().any(char::is_control) {
                return Err(Fault::invalid("title", "must be a single line of text"));
            }
        }
        match &self.participant {
            Some(name) if !is_name(name) => {
                let problem = format!("is not the name of an agent: {}", name::rule());
                Err(Fault::invalid("participant", problem))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses to move the frame of another: what it adds next would land where somebody else wants it.
fn check_whose(caller: &Caller, participant: &str) -> Result<()> {
    if participant == caller.agent || caller.role.directs() {
        return Ok(());
    }
    let message = format!(
        "participant: only {} itself, an operator or an orchestrator moves its frame",
        quoted(participant)
    );
    Err(Fault::new(Code::InsufficientAuthority, message)
        .detail("field", "participant")
        .hint("Leave participant out: your own frame moves."))
}

/// The answer of `garden_fork` and `garden_reopen`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Begun {
    /// The new conversation.
    pub log: Conversation,
    /// Where the participant stands now.
    pub frame: FrameShape,
}

pub fn fork(work: &mut Work<'_, '_>, wish: &Checked<Fork>) -> Result<Begun> {
    let ws = work.ws();
    if let Some(participant) = &wish.participant {
        check_whose(work.caller, participant)?;
    }
    let (project, parent) = match &wish.parent {
        Some(parent) => named(work, wish.project.as_deref(), "parent", parent)?,
        None => {
            let project = project::to_write(work, wish.project.as_deref(), false)?;
            let agent = work.caller.agent.clone();
            match rows::get_frame(work.read()?, ws, project, &agent)? {
                Some(frame) => (project, frame.log),
                None => (project, root_to_write(work, project)?),
            }
        }
    };
    check_open(work.thing(parent)?)?;
    let log = create(
        work,
        New {
            project,
            parent,
            continues: false,
            title: wish.title.clone(),
        },
    )?;
    let data = work.thing(log)?.data.clone();
    let told = about(log_of(work.read()?, ws, log)?, &data);
    report(work, (project, parent), Event::BranchCreated, &told)?;
    let frame = Frame {
        project,
        participant: match &wish.participant {
            Some(name) => name.clone(),
            None => work.caller.agent.clone(),
        },
        log,
        head: None,
    };
    let frame = stand(work, frame)?;
    let thing = work.thing(log)?.clone();
    let log = shape(work.read()?, ws, &thing)?;
    Ok(Begun { log, frame })
}
