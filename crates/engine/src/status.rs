//! A store as a whole, for people who look after it: what it is, how large, and whose logs it
//! holds. It only looks.

use serde::Serialize;
use understory_model::Time;
use understory_model::error::Result;
use understory_storage::workspaces;
use understory_storage::{CORE_VERSION, SOIL_VERSION, care};

use crate::Engine;

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

impl Engine {
    /// The store's state; `None` when there is no store yet.
    pub fn state(&self) -> Result<Option<State>> {
        self.store().read(|tx| {
            let mut logs = Vec::new();
            for workspace in workspaces::list(tx)? {
                let head = workspaces::head(tx, workspace.ws, false)?;
                logs.push(Log {
                    workspace: workspace.name,
                    items: head.as_ref().map_or(0, |head| head.seq),
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
        Ok(self.store().read(care::faults)?.unwrap_or_default())
    }
}
