//! `garden_collapse`: a conversation is over, and a summary stands for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::json_of;
use understory_model::error::{Fault, Result};
use understory_model::fragment::fragments;
use understory_model::limits;
use understory_model::text::check_text;
use understory_storage::logs as rows;

use crate::Work;
use crate::garden::conversation::log::{Conversation, Summary, named, nearest_open, row, shape};
use crate::garden::system::{Payload, report};
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::event::Event;
use crate::kernel::titles::log_of;
use crate::kernel::work::Edit;

/// A conversation that is over, and what was learned in it.
#[derive(Debug, Clone)]
pub struct Collapse {
    pub project: Option<String>,
    pub log: String,
    pub summary: String,
}

impl Check for Collapse {
    fn check(&self) -> Result<()> {
        check_text("summary", &self.summary, limits::TEXT_CHARS, false)
    }
}

/// The answer of `garden_collapse`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Collapsed {
    pub log: Conversation,
}

/// Ends a conversation. Who stood in it goes back to the nearest open one it came from, which core
/// derives from the change itself.
pub fn collapse(work: &mut Work<'_, '_>, over: &Checked<Collapse>) -> Result<Collapsed> {
    let ws = work.ws();
    let (project, id) = named(work, over.project.as_deref(), "log", &over.log)?;
    let summary = &over.summary;
    let (there, thing) = (row(work.read()?, ws, id)?, work.thing(id)?.clone());
    if !there.open {
        return Err(Fault::conflict("the conversation was collapsed before")
            .detail("summary", thing.data.get("summary"))
            .hint("garden_reopen goes on in a new one."));
    }
    if there.parent.is_none() {
        return Err(
            Fault::conflict("the first conversation of a project is never collapsed")
                .hint("Collapse those that were forked from it."),
        );
    }
    if let Some(child) = rows::open_child(work.read()?, ws, id)? {
        let child = log_of(work.read()?, ws, child)?;
        let name = child.as_deref().unwrap_or_default();
        return Err(
            Fault::conflict(format!("{name} was forked from it and is active"))
                .detail("active_child", &child)
                .hint(format!("Collapse {name} first.")),
        );
    }
    let mut data = thing.data;
    let parts = fragments(summary);
    let told = Summary {
        timestamp: work.now,
        author: work.caller.agent.clone(),
        content: summary.to_string(),
        fragment_ids: parts.into_iter().map(|part| part.id).collect(),
    };
    data.insert("summary".into(), json_of(&told)?);
    work.change(
        id,
        Edit {
            action: "collapsed",
            data: Some(data),
            ..Edit::default()
        },
    )?;
    let thing = work.thing(id)?.clone();
    // Readers of the conversation that it came from learn its outcome.
    if let Some(parent) = nearest_open(work.read()?, ws, id)? {
        let told = Payload::Conversation {
            log: log_of(work.read()?, ws, id)?,
            title: thing.data.get("title").and_then(Value::as_str),
            summary: Some(summary),
        };
        report(work, (project, parent), Event::SummaryGenerated, &told)?;
    }
    let log = shape(work.read()?, ws, &thing)?;
    Ok(Collapsed { log })
}
