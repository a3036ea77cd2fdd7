//! Wakes agents: takes jobs of waking, takes the step that the ladder names, and reports what came of it.
//!
//! A worker runs in `serve` for every workspace, and for one session beside its client or in the
//! supervisor of its terminal. What it starts stands in the user's own file of runtimes, and nowhere else. Jobs are leased, so that two workers never take the
//! same step.

pub mod command;
mod opencode;
pub mod person;
pub mod runtimes;
mod shared;
mod steps;
pub mod terminal;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use understory_engine::Engine;
use understory_engine::system::audit::SERVER;
use understory_engine::threads::ladder::{Able, Way};
use understory_engine::threads::wake::{self, Outcome, Own, Taken};
use understory_model::thread::{Activity, DeferReason, WakeAction};
use understory_model::{Caller, Code, Fault, Role, Seq, Time, limits};

use self::runtimes::Runtimes;
use self::shared::Shared;
pub use self::shared::Working;
pub use self::steps::{Failed, insist};
use self::steps::{filled, sent};
use self::terminal::Terminal;
use crate::log;
use crate::process::{self, machine};
use crate::store::{STACK_BYTES, Store};

/// How often a worker of all workspaces looks for jobs without being told: jobs that were put off become
/// due, and where nobody says so other processes may have written.
const LOOK_TOLD: Duration = Duration::from_secs(1);
const LOOK_UNTOLD: Duration = Duration::from_millis(500);
/// How soon it notices that it is over.
const NOTICE: Duration = Duration::from_millis(100);
/// Steps at a time, beyond which jobs wait for the next look.
const STEPS: usize = 32;
/// When an agent is tried again that is being started for another thread.
const AGAIN: i64 = 5 * 1_000_000;

/// In whose name a worker wakes others: its own, which reads every thread.
fn waker(caller: &Caller) -> Caller {
    Caller {
        agent: SERVER.to_owned(),
        session: SERVER.to_owned(),
        role: Role::Orchestrator,
        ..caller.clone()
    }
}

/// A worker and what it can do.
#[derive(Clone)]
pub struct Worker {
    runtimes: Arc<Runtimes>,
    /// The terminal of its own session, if it manages that.
    terminal: Option<Arc<Terminal>>,
    caller: Caller,
    able: Able,
    machine: String,
    holder: String,
    shared: Arc<Shared>,
}

impl Worker {
    /// One for every workspace of the store, or only for the session of `caller`.
    pub fn new(runtimes: Runtimes, caller: Caller, all: bool) -> Worker {
        let able = Able {
            own: (!all).then(|| caller.session.clone()),
            agent: (!all).then(|| caller.agent.clone()),
            queues: runtimes.with(|one| one.queue.is_some()),
            resumes: runtimes.with(|one| one.resume.is_some()),
            starts: runtimes.with(|one| one.start.is_some()),
            decides: true,
            runs: Some(process::runs),
            ..Able::default()
        };
        let mut queues = able.queues.clone();
        // Its server takes prompts: nothing has to be started.
        queues.push("opencode".to_owned());
        Worker {
            runtimes: Arc::new(runtimes),
            terminal: None,
            able: Able { queues, ..able },
            machine: machine().to_owned(),
            holder: format!("{}-{}", machine(), std::process::id()),
            shared: Arc::default(),
            caller,
        }
    }

    /// Lets it type into the terminal of its own session.
    pub fn with_terminal(self, terminal: Arc<Terminal>) -> Worker {
        Worker {
            terminal: Some(terminal),
            ..self
        }
    }

    /// The same worker for its session under the name that the agent has now.
    pub fn of(&self, caller: Caller) -> Worker {
        let agent = self.able.agent.as_ref().map(|_| caller.agent.clone());
        Worker {
            able: Able {
                agent,
                ..self.able.clone()
            },
            caller,
            ..self.clone()
        }
    }

    /// Lets it work until this is dropped, which ends what it started.
    pub fn working(&self) -> Working {
        Working::of(&self.shared)
    }

    /// Works in a thread of its own.
    pub fn begin(self, store: &Arc<Store>) -> Working {
        let (working, store) = (self.working(), Arc::clone(store));
        let at_work = self.shared.at_work();
        let begun = std::thread::Builder::new()
            .name("wake".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                let _at_work = at_work;
                self.work(&store);
            });
        if let Err(error) = begun {
            log::warn(format_args!("no thread to wake agents: {error}"));
        }
        working
    }

    fn is_over(&self) -> bool {
        self.shared.is_over()
    }

    fn work(&self, store: &Store) {
        let mut said = String::new();
        while !self.is_over() {
            // What goes wrong in one look must not end waking for as long as the server runs.
            let looked = catch_unwind(AssertUnwindSafe(|| {
                let engine = store.get()?;
                self.watch(&engine, &mut said)
            }));
            let fault = match looked {
                Ok(Ok(())) => continue,
                Ok(Err(fault)) => fault,
                Err(_) => Fault::new(Code::Internal, "internal error: a look for jobs ended"),
            };
            if said != fault.message {
                log::warn(format_args!("nobody can be woken: {}", fault.message));
                said = fault.message;
            }
            self.rest(LOOK_UNTOLD);
        }
    }

    /// Looks whenever something was written, and now and then without that, until it is over.
    fn watch(&self, engine: &Arc<Engine>, said: &mut String) -> Result<(), Fault> {
        let mut quiet = engine.quietly();
        // Where each log ended at the last look.
        let mut known = HashMap::new();
        while !self.is_over() {
            known.clear();
            self.grown(engine, &mut known)?;
            said.clear();
            let look = if quiet.is_told() {
                LOOK_TOLD
            } else {
                LOOK_UNTOLD
            };
            let until = Instant::now() + look;
            while !self.is_over() && Instant::now() < until {
                if quiet.within(NOTICE) {
                    self.grown(engine, &mut known)?;
                }
            }
        }
        Ok(())
    }

    fn rest(&self, rest: Duration) {
        let until = Instant::now() + rest;
        while !self.is_over() && Instant::now() < until {
            std::thread::sleep(until.saturating_duration_since(Instant::now()).min(NOTICE));
        }
    }

    /// Takes every job that is due in workspaces whose logs have grown. What fails in one workspace keeps
    /// no other back.
    fn grown(&self, engine: &Arc<Engine>, known: &mut HashMap<String, Seq>) -> Result<(), Fault> {
        let mut failed = Ok(());
        for (workspace, end) in engine.ends()? {
            if known.get(&workspace) == Some(&end) {
                continue;
            }
            let caller = Caller {
                workspace: workspace.clone(),
                origin: None,
                ..waker(&self.caller)
            };
            match self.jobs(engine, &caller) {
                Ok(()) => drop(known.insert(workspace, end)),
                Err(fault) => failed = Err(fault),
            }
        }
        failed
    }

    /// Takes every job that is due in the workspace of its own session.
    pub fn pass(&self, engine: &Arc<Engine>) -> Result<(), Fault> {
        self.jobs(engine, &waker(&self.caller))
    }

    fn jobs(&self, engine: &Arc<Engine>, caller: &Caller) -> Result<(), Fault> {
        while !self.is_over() && self.shared.steps() < STEPS {
            let able = Able {
                full: self.shared.agents() >= limits::WAKES_AT_ONCE,
                ..self.able.clone()
            };
            let taken = wake::take(engine, caller, &able, &self.machine, &self.holder)?;
            let Some(taken) = taken else {
                return Ok(());
            };
            match taken.job.action {
                // Its terminal answers within a second.
                WakeAction::TriggerRuntime => self.step(engine, caller, &taken),
                _ => self.go(engine, caller, taken),
            }
        }
        Ok(())
    }

    /// Takes a step in a thread of its own: other jobs wait neither for an agent at work nor for a channel
    /// that hangs.
    fn go(&self, engine: &Arc<Engine>, caller: &Caller, taken: Taken) {
        let starts = taken.job.action.starts();
        let agent = starts.then(|| self.shared.starts(&caller.workspace, &taken.job.target));
        if let Some(None) = agent {
            // One at a time, whatever the job says for which it was: two could be given one session.
            let outcome = Outcome::Deferred {
                reason: DeferReason::AgentBusy,
                until: Time(engine.clock().now().0.saturating_add(AGAIN)),
            };
            let _ = self.report(engine, caller, &taken, &outcome);
            return;
        }
        let (worker, job) = (self.clone(), taken.clone());
        let (engine_there, caller_there) = (Arc::clone(engine), caller.clone());
        let begun = self.spawn(move || {
            let _agent = agent;
            worker.step(&engine_there, &caller_there, &job);
        });
        if let Err(error) = begun {
            log::warn(format_args!("no thread to wake an agent: {error}"));
            self.give_back(engine, caller, &taken);
        }
    }

    /// Does something for which its end waits a little.
    fn spawn(&self, step: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let at_work = self.shared.at_work();
        let thread = std::thread::Builder::new().name("woken".to_owned());
        let begun = thread.stack_size(STACK_BYTES).spawn(move || {
            let _at_work = at_work;
            step();
        });
        begun.map(drop)
    }

    /// Tells the caller's own session what it was not told, through the channel of its client or its
    /// terminal; whether there was anything.
    pub fn own(&self, engine: &Engine, way: &Way) -> Result<bool, Fault> {
        if !self.reaches(way) {
            return Ok(false);
        }
        let Own { jobs, stopped } = wake::own(engine, &self.caller, way, &self.holder)?;
        for taken in stopped {
            let runtimes = Arc::clone(&self.runtimes);
            if let Err(error) = self.spawn(move || person::tell(&runtimes, &taken)) {
                log::warn(format_args!("no thread to tell a person: {error}"));
            }
        }
        let Some(first) = jobs.first() else {
            return Ok(false);
        };
        let outcome = match first.job.action {
            WakeAction::TriggerRuntime => self.type_in(engine, &self.caller, &jobs),
            _ => match engine.view(&self.caller, |view| wake::text(view, &jobs)) {
                Ok(text) => {
                    let runtime = self.runtimes.get(&way.client);
                    sent(self.send(first, Some(way), runtime, &text))
                }
                Err(fault) => {
                    for taken in &jobs {
                        self.give_back(engine, &self.caller, taken);
                    }
                    return Err(fault);
                }
            },
        };
        // All are reported, whatever becomes of one.
        let mut done = Ok(true);
        for taken in &jobs {
            if let Err(fault) = self.report(engine, &self.caller, taken, &outcome) {
                done = done.and(Err(fault));
            }
        }
        done
    }

    /// Whether a message alone is worth a wake by this worker.
    fn reaches(&self, way: &Way) -> bool {
        match way.channel {
            Some(channel) if channel.begins_turns() => {
                self.terminal.is_none() && self.able.queues.contains(&way.client)
            }
            // Its hooks tell it at the end of its turn.
            Some(_) if way.activity == Activity::Busy => false,
            _ => self.terminal.is_some(),
        }
    }
}
