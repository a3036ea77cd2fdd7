//! Where a command runs: its flags, its surroundings and its output, and from these the settings,
//! the caller and the store that nearly every command needs.

use std::sync::Arc;

use serde_json::Value;
use understory_engine::{Engine, Resolved};
use understory_model::{Caller, Fault};
use understory_tools::{Context, registry};

use super::out::Out;
use super::when::Clock;
use crate::config::{Flags, Settings, Surroundings};
use crate::identity::Identity;
use crate::ids::Requests;
use crate::store::Store;

/// The flags that all commands share, the surroundings, and standard output.
pub struct Here {
    pub flags: Flags,
    pub around: Surroundings,
    pub out: Out,
}

impl Here {
    /// The settings, once a command needs them.
    pub fn settings(&self) -> Result<Settings, Fault> {
        Settings::read(&self.flags, &self.around)
    }

    /// The store, opened for the person who calls.
    pub fn desk(&self) -> Result<Desk, Fault> {
        let settings = self.settings()?;
        let caller = Identity::person(&settings, &self.around)?.caller(None);
        let engine = Store::new(&settings).get()?;
        Ok(Desk {
            settings,
            caller,
            engine,
            clock: Clock::here(),
            requests: Requests::default(),
        })
    }
}

/// An open store, who uses it, and when.
pub struct Desk {
    pub settings: Settings,
    pub caller: Caller,
    pub engine: Arc<Engine>,
    pub clock: Clock,
    requests: Requests,
}

impl Desk {
    /// Calls a tool as the person at this desk.
    pub fn call(&self, tool: &str, args: Value) -> Result<Value, Fault> {
        let request = self.requests.next();
        let context = Context {
            engine: &self.engine,
            caller: &self.caller,
            request_id: &request,
        };
        registry::call(&context, tool, args)
    }

    /// The desk of somebody whose commands at a shell go on with each other: what one command claims,
    /// the next may finish. Without a session of their own, a person's commands share one.
    #[must_use]
    pub fn at_shell(mut self) -> Desk {
        if self.settings.session.value.is_none() {
            self.caller.session = format!("shell_{}", self.caller.agent);
        }
        self
    }

    /// The same desk a little later.
    pub fn again(&self) -> Desk {
        Desk {
            settings: self.settings.clone(),
            caller: self.caller.clone(),
            engine: Arc::clone(&self.engine),
            clock: Clock::here(),
            requests: Requests::default(),
        }
    }

    /// Why there is nothing to read, when there is not even a workspace; else nothing.
    pub fn nothing_yet(&self) -> Result<Option<String>, Fault> {
        let Some(state) = self.engine.state()? else {
            let store = &self.settings.store.value;
            return Ok(Some(format!(
                "There is no store yet at {store}: the first write makes it."
            )));
        };
        let Resolved::New(name) = self.engine.workspace(&self.caller)? else {
            return Ok(None);
        };
        let others: Vec<&str> = state
            .logs
            .iter()
            .map(|log| log.workspace.as_str())
            .take(8)
            .collect();
        Ok(Some(match others.as_slice() {
            [] => format!("Nothing has been written to the workspace {name} yet."),
            others => format!(
                "Nothing has been written to the workspace {name} yet. This store has: {} \
                 (choose one with --workspace).",
                others.join(", ")
            ),
        }))
    }
}
