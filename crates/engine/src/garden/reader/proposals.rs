//! `reader_proposals`: what waits for somebody's decision, the newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Id;
use understory_model::answer::{Fit, Next, Shape};
use understory_model::error::Result;
use understory_model::page::{Cursor, Key};
use understory_storage::entities;

use crate::View;
use crate::garden::page::Paging;
use crate::garden::reader::propose::{Shown, State, shape};
use crate::kernel::core::Thing;
use crate::kernel::names::Scope;
use crate::kernel::{artifact, project};
use crate::kinds::PROPOSAL;

const LIST: &str = "proposals";
/// Proposals read at once.
const CHUNK: i64 = 200;

/// Where a proposal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Open,
    Accepted,
    Rejected,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Open => "open",
            Status::Accepted => "accepted",
            Status::Rejected => "rejected",
        }
    }
}

/// Which proposals are wanted, by where they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    #[default]
    Open,
    Accepted,
    Rejected,
    Any,
}

impl Wanted {
    fn takes(self, status: Status) -> bool {
        match self {
            Wanted::Open => status == Status::Open,
            Wanted::Accepted => status == Status::Accepted,
            Wanted::Rejected => status == Status::Rejected,
            Wanted::Any => true,
        }
    }
}

/// Which proposals.
#[derive(Debug, Clone)]
pub struct Asked {
    pub project: Option<String>,
    pub artifact: Option<String>,
    pub status: Wanted,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// The answer of `reader_proposals`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Proposals {
    /// Newest first.
    pub proposals: Vec<Shown>,
    #[serde(flatten)]
    pub paging: Paging,
}

impl Fit for Proposals {
    const SHAPE: Shape = Shape::Pagination { list: "proposals" };

    fn cursor(&self, kept: usize) -> Option<Next> {
        self.paging.cursor(kept)
    }
}

pub fn proposals(view: &mut View<'_, '_>, asked: &Asked) -> Result<Proposals> {
    let mut before = match &asked.cursor {
        Some(cursor) => Cursor::decode(cursor, LIST)?.int(0)?,
        None => Id::MAX,
    };
    let Some(home) = project::to_read(view, view.caller, asked.project.as_deref())? else {
        return Ok(Proposals::default());
    };
    let scope = Scope {
        ws: view.ws,
        project: Some(home.id),
        caller: view.caller,
    };
    let artifact = match &asked.artifact {
        Some(name) => Some(artifact::find(view.tx, scope, name)?.name),
        None => None,
    };
    let most = usize::try_from(asked.limit).unwrap_or(0) + 1;
    let mut found: Vec<Thing> = Vec::new();
    while found.len() < most {
        let batch = entities::of_kind(view.tx, view.ws, PROPOSAL, before, CHUNK)?;
        let Some(last) = batch.last() else { break };
        before = last.id;
        for entity in batch.into_iter().filter(|one| one.project == Some(home.id)) {
            let thing = Thing::open(entity)?;
            let state = State::of(&thing)?;
            let of = artifact.as_ref().is_none_or(|name| *name == state.artifact);
            if of && asked.status.takes(state.status) {
                found.push(thing);
            }
        }
    }
    let more = found.len() >= most;
    found.truncate(most - 1);
    let cursor = |thing: &Thing| Cursor::new(LIST, vec![Key::from(thing.entity.id)]).encode();
    let cursors = found.iter().map(cursor).collect();
    let proposals = found
        .iter()
        .map(|thing| shape(view.tx, view.ws, thing))
        .collect::<Result<Vec<Shown>>>()?;
    Ok(Proposals {
        proposals,
        paging: Paging::new(cursors, more),
    })
}
