//! Where a command runs: its flags, its surroundings and its output, and from these the settings,
//! the caller and the store that nearly every command needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use understory_engine::threads::wake;
use understory_engine::{Engine, Resolved};
use understory_model::{Caller, Code, Fault, Via};
use understory_tools::tool::Common;
use understory_tools::{Access, Context, registry, secrets};

use super::out::Out;
use super::when::Clock;
use crate::config::{Flags, Settings, Surroundings};
use crate::identity::Identity;
use crate::ids::Requests;
use crate::log;
use crate::object::with;
use crate::process;
use crate::store::Store;
use crate::wake::runtimes::Runtimes;

/// A person at a terminal wants all of it, however long it is.
pub const ROOM: usize = 16 << 20;

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

    /// The store, opened for the caller.
    pub fn context(&self) -> Result<CommandContext, Fault> {
        let settings = self.settings()?;
        let identity = Identity::shell(&settings, &self.around)?;
        let mut caller = identity.caller(None);
        let engine = Store::for_tools(&settings, &Runtimes::usable(&self.around)).get()?;
        if caller.via == Via::Arriving
            && let Some(agent) = engine.known_as(&caller)?
        {
            (caller.agent, caller.via) = (agent, Via::Local);
        }
        Ok(CommandContext {
            visit: Arc::new(Visit {
                engine: Arc::clone(&engine),
                caller: caller.clone(),
                lasts: identity.names_session(),
                wrote: AtomicBool::new(false),
            }),
            settings,
            caller,
            engine,
            clock: Clock::here(),
            requests: Requests::default(),
        })
    }
}

/// A tool's answer as its type. The default budget may have shortened it below what the type
/// requires; [`CommandContext::ask`] then asks again.
pub fn typed<'v, T: Deserialize<'v>>(answer: &'v Value) -> Result<T, Fault> {
    T::deserialize(answer).map_err(|error| {
        let problem = format!("an answer does not have its type: {error}");
        Fault::new(Code::Internal, problem)
    })
}

/// A command's session, for as long as the command runs.
struct Visit {
    engine: Arc<Engine>,
    caller: Caller,
    /// Whether other commands can use the session again.
    lasts: bool,
    /// Whether it did more than read, which leaves nothing behind.
    wrote: AtomicBool,
}

impl Drop for Visit {
    fn drop(&mut self) {
        if !self.caller.role.may_write() {
            return;
        }
        if self.lasts
            && let Err(fault) = self.has_read()
        {
            log::debug(format_args!("a wake could not be marked as read: {fault}"));
        }
        if !self.wrote.load(Ordering::Relaxed) {
            return;
        }
        let done = if self.lasts {
            self.touch()
        } else {
            self.engine.finish(&self.caller)
        };
        if let Err(fault) = done {
            log::debug(format_args!("the session could not be noted: {fault}"));
        }
    }
}

impl Visit {
    /// Whoever the session has turned out to be.
    fn known(&self) -> Result<Caller, Fault> {
        let agent = self.engine.known_as(&self.caller)?;
        Ok(Caller {
            agent: agent.unwrap_or_else(|| self.caller.agent.clone()),
            ..self.caller.clone()
        })
    }

    /// A call is a sign of life.
    fn touch(&self) -> Result<(), Fault> {
        self.engine.touch(&self.known()?).map(drop)
    }

    /// A session that runs a command has read what it was woken with.
    fn has_read(&self) -> Result<(), Fault> {
        wake::called(&self.engine, &self.known()?, process::local())
    }
}

/// An open store, who uses it, and when.
pub struct CommandContext {
    pub settings: Settings,
    pub caller: Caller,
    pub engine: Arc<Engine>,
    pub clock: Clock,
    requests: Requests,
    visit: Arc<Visit>,
}

impl CommandContext {
    /// Whether the session ends with the command.
    pub fn is_brief(&self) -> bool {
        !self.visit.lasts
    }

    /// Calls a tool as this command's caller.
    pub fn call(&self, tool: &str, args: Value) -> Result<Value, Fault> {
        let tool = registry::find(tool).ok_or_else(|| registry::unknown(tool))?;
        if tool.access != Access::Read {
            self.visit.wrote.store(true, Ordering::Relaxed);
        }
        let request = self.requests.next();
        let context = Context {
            engine: &self.engine,
            caller: &self.caller,
            request_id: &request,
        };
        let answer = registry::call(&context, tool, args)?.read()?;
        // Most commands print a part of the answer only.
        if let Some(advice) = secrets::advice(&answer) {
            log::warn(format_args!("{advice}"));
        }
        Ok(answer)
    }

    /// Calls a tool, for the type of its answer. One that its budget shortened below what its type
    /// requires is asked for again with all the room there is.
    pub fn ask<T: DeserializeOwned>(&self, tool: &str, args: Value) -> Result<T, Fault> {
        let answer = self.call(tool, args.clone())?;
        let fault = match typed(&answer) {
            Ok(answer) => return Ok(answer),
            Err(fault) => fault,
        };
        match registry::find(tool) {
            Some(known)
                if known.access == Access::Read && known.takes.contains(&Common::MaxChars) =>
            {
                let args = with(args, [("max_chars", ROOM.into())]);
                typed(&self.call(tool, args)?)
            }
            Some(_) | None => Err(fault),
        }
    }

    /// The context of a person whose commands at a shell belong together: what one command
    /// claims, the next may finish. Without a session of their own, a person's commands share one.
    #[must_use]
    pub fn at_shell(mut self) -> CommandContext {
        if self.settings.session.value.is_none() {
            self.caller.session = format!("shell_{}", self.caller.agent);
        }
        self
    }

    /// The same context a little later.
    pub fn again(&self) -> CommandContext {
        CommandContext {
            settings: self.settings.clone(),
            caller: self.caller.clone(),
            engine: Arc::clone(&self.engine),
            clock: Clock::here(),
            requests: Requests::default(),
            visit: Arc::clone(&self.visit),
        }
    }

    /// Whether nothing was ever written to the workspace.
    pub fn is_new(&self) -> Result<bool, Fault> {
        let found = self.engine.workspace(&self.caller)?;
        Ok(matches!(found, Resolved::New(_)))
    }

    /// Why there is nothing to show if nothing was ever written; else `None`.
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
        if let Some(clash) = self.engine.clash(&self.caller)? {
            let said = crate::clash::told(&clash);
            return Ok(Some(format!(
                "Nothing has been written to the workspace {name} yet: {said}"
            )));
        }
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
