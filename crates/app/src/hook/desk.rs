//! What a hook works with: the store that `understory mcp` would use in the folder of the chat, and
//! the session that it speaks for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use understory_engine::kernel::process::Process;
use understory_engine::system::chat::Comes;
use understory_engine::system::orient::Firing;
use understory_engine::{Engine, Patience, Reach, View};
use understory_model::caller::check_session_name;
use understory_model::thread::Activity;
use understory_model::{Caller, Code, Fault, Time};

use super::Start;
use super::client::{self, Client};
use super::event::{Event, Fired};
use crate::config::{Address, Settings, Surroundings};
use crate::identity::Identity;
use crate::process;
use crate::store::Store;

/// How long the store may take before a hook does without it.
const PATIENCE: Duration = Duration::from_millis(1_000);

/// An open store, and who speaks.
pub struct Desk {
    pub engine: Arc<Engine>,
    /// Who speaks, before the store was asked which session that is.
    pub caller: Caller,
    /// The client's process.
    pub process: Option<Process>,
    /// What is noted of the chat; the session and the agent are filled in when they are known.
    pub reach: Reach,
    pub around: Surroundings,
    /// The store's address.
    pub store: Address,
    pub firing: Firing,
    /// Whether the process decides which session it is.
    joins: bool,
    /// When the client waits no longer; one that waits itself has no such moment.
    end: Option<Instant>,
}

impl Desk {
    /// `None` where nothing is to be told: no folder, no name, no store.
    pub fn open(
        start: &Start,
        mut around: Surroundings,
        fired: &Fired,
        end: Instant,
    ) -> Result<Option<Desk>, Fault> {
        if let Some(folder) = &fired.folder {
            if !folder.is_absolute() || !folder.is_dir() {
                return Ok(None);
            }
            around.folder.clone_from(folder);
        }
        if check_session_name("session", &fired.session).is_err() {
            return Ok(None);
        }
        let settings = Settings::read(&start.flags, &around)?;
        let identity = Identity::agent(&settings, &around)?;
        let name = fired.client.mcp_name();
        let caller = identity.caller_in(Some(name), Some(&fired.session));
        let patience = Patience {
            statement: PATIENCE,
            read: PATIENCE,
            turn: PATIENCE,
        };
        let engine = Store::patient(&settings, patience).get()?;
        let process = client_process(start, fired.client, &around)?;
        Ok(Some(Desk {
            reach: reach(start, fired, &around, process.as_ref())?,
            // A session that a setting names is that one, whatever the process.
            joins: fired.client.has_one_chat() && caller.session == fired.session,
            firing: Firing {
                event: fired.event.as_str(),
                turn: fired.turn.clone().unwrap_or_else(|| fired.hash.clone()),
                named: fired.turn.is_some(),
            },
            end: (fired.event != Event::Wake).then_some(end),
            store: settings.store.value,
            engine,
            caller,
            process,
            around,
        }))
    }

    /// Runs a rule as the session that the chat has here, in one transaction; `None` where there is
    /// no workspace. Nothing is kept of what comes too late for the client to hear it.
    pub fn hooked<T: Send + 'static>(
        &self,
        comes: Comes,
        rule: impl Fn(&mut View<'_, '_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<Option<T>, Fault> {
        let (end, process) = (self.end, self.process.as_ref().filter(|_| self.joins));
        self.engine
            .hooked(&self.caller, process, comes, move |view| {
                let done = rule(view)?;
                if end.is_some_and(|end| Instant::now() > end) {
                    Err(Fault::new(Code::TimedOut, "the client waits no longer"))
                } else {
                    Ok(done)
                }
            })
    }
}

fn client_process(
    start: &Start,
    client: Client,
    around: &Surroundings,
) -> Result<Option<Process>, Fault> {
    if let Some(id) = start.process {
        return Ok(process::of(id));
    }
    if client == Client::Claude
        && let Some(id) = around.var("CLAUDE_PID")?
    {
        return Ok(id.parse().ok().and_then(process::of));
    }
    Ok(process::client())
}

fn reach(
    start: &Start,
    fired: &Fired,
    around: &Surroundings,
    process: Option<&Process>,
) -> Result<Reach, Fault> {
    let interactive = client::is_interactive(around)?;
    // What the chat says is not on a command line, which others on the machine can read.
    let address = fired.address.as_deref().or(start.address.as_deref());
    let address = address.and_then(client::loopback);
    let address = address.unwrap_or_default().to_owned();
    Ok(Reach {
        session: String::new(),
        agent: String::new(),
        client: fired.client.mcp_name().to_owned(),
        client_session: fired.session.clone(),
        channel: fired.client.channel(interactive, &address),
        address,
        machine: process::machine().to_owned(),
        process: process.map_or(0, |one| one.id),
        started: process.map_or(0, |one| one.started),
        folder: around.folder.display().to_string(),
        activity: Activity::Idle,
        at: Time::ZERO,
    })
}
