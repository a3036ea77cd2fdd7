//! A store as a whole, for people who look after it: what it is, how large, whose logs it holds,
//! and how much is in a project. It only looks.

use serde::Serialize;
use understory_model::error::Result;
use understory_model::{Caller, Time};
use understory_storage::{CORE_VERSION, SOIL_VERSION, care, sessions, workspaces};

use crate::kernel::project;
use crate::records::session::is_stale;
use crate::{Engine, View};

/// Open sessions that are looked at one by one; nobody has more.
const SESSIONS: i64 = 10_000;

/// What a store says of itself.
#[derive(Debug, Clone)]
pub struct State {
    /// The database's own name and version.
    pub engine: String,
    /// Bytes that it takes.
    pub size: i64,
    pub soil_version: i64,
    pub core_version: i64,
    pub logs: Vec<Log>,
}

/// The log of one workspace.
#[derive(Debug, Clone, Serialize)]
pub struct Log {
    pub workspace: String,
    /// How many items it has, which is the place of the last.
    pub items: i64,
    #[serde(serialize_with = "shown")]
    pub created_at: Time,
    /// When the last item was written.
    #[serde(serialize_with = "shown")]
    pub updated_at: Time,
}

fn shown<S: serde::Serializer>(at: &Time, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(at)
}

/// How many records and sessions a project has, and how far its clock has come.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Records {
    pub tick: i64,
    pub records: i64,
    pub open: i64,
    pub later: i64,
    pub open_sessions: i64,
    /// Of the open sessions, those that missed too much.
    pub stale_sessions: i64,
}

/// What the caller's project holds; nothing before its first write.
pub fn records(view: &mut View<'_, '_>, caller: &Caller) -> Result<Records> {
    let Some(home) = project::to_read(view, caller, None)? else {
        return Ok(Records::default());
    };
    let stale_after = view.rules.stale_after;
    let open = sessions::open(view.tx, view.ws, home.id, SESSIONS)?;
    let stale = open.iter().filter(|one| is_stale(one, &home, stale_after));
    Ok(Records {
        tick: home.tick,
        records: home.records,
        open: home.open_records,
        later: home.later_records,
        open_sessions: home.open_sessions,
        stale_sessions: stale.count() as i64,
    })
}

impl Engine {
    /// The store's state; `None` when there is no store yet.
    pub fn state(&self) -> Result<Option<State>> {
        self.store().read(|tx| {
            let mut logs = Vec::new();
            for workspace in workspaces::list(tx)? {
                let head = workspaces::head(tx, workspace.ws, false)?;
                logs.push(Log {
                    workspace: workspace.name,
                    items: head.as_ref().map_or(0, |head| head.seq.0),
                    created_at: workspace.created_at,
                    updated_at: head.map_or(workspace.created_at, |head| head.at),
                });
            }
            Ok(State {
                engine: care::version(tx)?,
                size: care::size(tx)?,
                soil_version: SOIL_VERSION,
                core_version: CORE_VERSION,
                logs,
            })
        })
    }

    /// What the database finds wrong with its own files; empty when nothing is.
    pub fn faults(&self) -> Result<Vec<String>> {
        let found = self.store().read(|tx| {
            tx.without_limits()?;
            care::faults(tx)
        })?;
        Ok(found.unwrap_or_default())
    }
}
