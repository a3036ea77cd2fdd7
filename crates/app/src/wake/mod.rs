//! Wakes agents: takes jobs of waking, takes the step that the ladder names, and reports what came of it.
//!
//! A worker runs in `serve` for every workspace, and for one session beside its client or in the
//! supervisor of its terminal. What it starts stands in the user's own file of runtimes, and nowhere else. Jobs are leased, so that two workers never take the
//! same step.

pub mod command;
mod opencode;
pub mod person;
pub mod runtimes;
pub mod terminal;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use understory_engine::Engine;
use understory_engine::system::audit::SERVER;
use understory_engine::threads::ladder::{Able, Way};
use understory_engine::threads::wake::{self, Outcome, Own, Taken};
use understory_model::thread::{
    Activity, Channel, DeferReason, WakeAction, WakeFailure, WakeResult,
};
use understory_model::{Caller, Code, Fault, Role, Seq, Time};

use self::runtimes::{Filling, Runtime, Runtimes, Template};
use self::terminal::Terminal;
use crate::log;
use crate::process::{self, machine};
use crate::store::{STACK_BYTES, Store};

/// How often a worker of all workspaces looks for jobs without being told: jobs that were put off become
/// due, and where nobody says so other processes may have written.
const LOOK_TOLD: Duration = Duration::from_secs(1);
const LOOK_UNTOLD: Duration = Duration::from_millis(500);
/// Looking takes no more than this part of the time, however many workspaces there are and however much
/// is written.
const SHARE: u32 = 20;
/// At least this long it rests between two looks.
const REST: Duration = Duration::from_millis(5);
/// How soon it notices that it is over.
const NOTICE: Duration = Duration::from_millis(100);
/// How long a channel may take to accept a prompt.
const ACCEPT: Duration = Duration::from_secs(30);
/// How long an agent that was started may work.
const WORK: Duration = Duration::from_secs(60 * 60);
/// How long those at work have to leave.
const LEAVE: Duration = Duration::from_secs(2);
/// When an agent is tried again that is being started for another thread.
const AGAIN: i64 = 5 * 1_000_000;
/// How often a long step renews its lease.
const RENEW: Duration = Duration::from_secs(60);

/// Works until it is dropped.
pub struct Working(Arc<AtomicBool>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        // Whoever is at work ends what it started, and says so in the store.
        let end = Instant::now() + LEAVE;
        while Arc::strong_count(&self.0) > 1 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

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
    /// Who is being started, by workspace and agent.
    started: Arc<Mutex<BTreeSet<(String, String)>>>,
    over: Arc<AtomicBool>,
}

/// An agent that is being started, until it is dropped.
struct Started<'w> {
    worker: &'w Worker,
    who: (String, String),
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        self.worker.starting().remove(&self.who);
    }
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
            started: Arc::default(),
            over: Arc::new(AtomicBool::new(false)),
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

    /// Works in a thread of its own.
    pub fn begin(self, store: &Arc<Store>) -> Working {
        let (over, store) = (Arc::clone(&self.over), Arc::clone(store));
        let begun = std::thread::Builder::new()
            .name("wake".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || self.work(&store));
        if let Err(error) = begun {
            log::warn(format_args!("no thread to wake agents: {error}"));
        }
        Working(over)
    }

    fn starting(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        let started = self.started.lock();
        started.unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if a process of the agent that this worker started is at work, whatever the job says for
    /// which it was: two could be given one session.
    fn starts(&self, caller: &Caller, agent: &str) -> Option<Started<'_>> {
        let who = (caller.workspace.clone(), agent.to_owned());
        let worker = self;
        let first = self.starting().insert(who.clone());
        first.then_some(Started { worker, who })
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn work(&self, store: &Store) {
        let mut said = String::new();
        while !self.is_over() {
            match store
                .get()
                .and_then(|engine| self.watch(&engine, &mut said))
            {
                Ok(()) => {}
                Err(fault) if said != fault.message => {
                    log::warn(format_args!("nobody can be woken: {}", fault.message));
                    said = fault.message;
                }
                Err(_) => {}
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
            if !quiet.is_told() {
                // There may be a store by now.
                quiet = engine.quietly();
            }
            known.clear();
            let begun = Instant::now();
            self.grown(engine, &mut known)?;
            said.clear();
            self.rest(REST.max(begun.elapsed() * SHARE));
            let look = if quiet.is_told() {
                LOOK_TOLD
            } else {
                LOOK_UNTOLD
            };
            let until = Instant::now() + look;
            while !self.is_over() && Instant::now() < until {
                if quiet.within(NOTICE) {
                    let begun = Instant::now();
                    self.grown(engine, &mut known)?;
                    self.rest(REST.max(begun.elapsed() * SHARE));
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
        while !self.is_over() {
            let taken = wake::take(engine, caller, &self.able, &self.machine, &self.holder)?;
            let Some(taken) = taken else {
                return Ok(());
            };
            match taken.job.action {
                // An agent works for as long as it does; other jobs do not wait for it.
                WakeAction::ResumeSession | WakeAction::SpawnSession => {
                    let (worker, engine) = (self.clone(), Arc::clone(engine));
                    let caller = caller.clone();
                    let begun = std::thread::Builder::new()
                        .name("woken".to_owned())
                        .stack_size(STACK_BYTES)
                        .spawn(move || worker.step(&engine, &caller, &taken));
                    if let Err(error) = begun {
                        log::warn(format_args!("no thread to start an agent: {error}"));
                    }
                }
                _ => self.step(engine, caller, &taken),
            }
        }
        Ok(())
    }

    /// Tells the caller's own session what it was not told, through the channel of its client or its
    /// terminal; whether there was anything.
    pub fn own(&self, engine: &Engine, way: &Way) -> Result<bool, Fault> {
        if !self.reaches(way) {
            return Ok(false);
        }
        let Own { jobs, stopped } = wake::own(engine, &self.caller, way, &self.holder)?;
        for taken in &stopped {
            person::tell(&self.runtimes, taken);
        }
        let Some(first) = jobs.first() else {
            return Ok(false);
        };
        let outcome = match first.job.action {
            WakeAction::TriggerRuntime => self.type_in(engine, &self.caller, &jobs),
            _ => {
                let text = engine.view(&self.caller, |view| wake::text(view, &jobs))?;
                let runtime = self.runtimes.get(&way.client);
                sent(self.send(first, Some(way), runtime, &text))
            }
        };
        for taken in &jobs {
            wake::report(engine, &self.caller, &self.as_told(taken), &outcome)?;
        }
        Ok(true)
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

    /// Takes a step, and reports what came of it.
    fn step(&self, engine: &Engine, caller: &Caller, taken: &Taken) {
        if taken.job.result == WakeResult::Failed {
            person::tell(&self.runtimes, taken);
            return;
        }
        let starts = taken.job.action.starts();
        let started = if starts {
            self.starts(caller, &taken.job.target)
        } else {
            None
        };
        let outcome = match taken.job.action {
            WakeAction::TriggerRuntime => self.type_in(engine, caller, std::slice::from_ref(taken)),
            _ if starts && started.is_none() => Outcome::Deferred {
                reason: DeferReason::AgentBusy,
                until: Time(engine.clock().now().0.saturating_add(AGAIN)),
            },
            _ => sent(self.act(engine, caller, taken)),
        };
        if let Err(fault) = wake::report(engine, caller, &self.as_told(taken), &outcome) {
            log::warn(format_args!(
                "{} cannot be reported: {fault}",
                taken.wake_id
            ));
        }
    }

    /// A job as it is reported: a program that was given no message was told of none.
    fn as_told(&self, taken: &Taken) -> Taken {
        let typed = taken.job.action == WakeAction::TriggerRuntime;
        let blank = typed && self.terminal.as_ref().is_some_and(|one| !one.reads_text());
        Taken {
            way: taken.way.clone().filter(|_| !blank),
            ..taken.clone()
        }
    }

    /// Types the prompt for some jobs into the terminal of the worker's own session.
    fn type_in(&self, engine: &Engine, caller: &Caller, jobs: &[Taken]) -> Outcome {
        let Some(terminal) = &self.terminal else {
            return Failed::final_("this worker manages no terminal").outcome();
        };
        let text = if terminal.reads_text() {
            engine.view(caller, |view| wake::text(view, jobs))
        } else {
            Ok(wake::plain_text(jobs))
        };
        match text {
            Ok(text) => terminal.type_in(text, jobs.iter().any(|taken| taken.job.forced)),
            Err(fault) => Failed::later(fault.message).outcome(),
        }
    }

    fn act(
        &self,
        engine: &Engine,
        caller: &Caller,
        taken: &Taken,
    ) -> Result<Option<Channel>, Failed> {
        let text = engine.view(caller, |view| match taken.job.action {
            WakeAction::SpawnSession => wake::first_text(view, taken),
            _ => wake::text(view, std::slice::from_ref(taken)),
        });
        let text = text.map_err(|fault| Failed::later(fault.message))?;
        let way = taken.way.as_ref();
        let client = taken
            .client
            .as_deref()
            .or(way.map(|way| way.client.as_str()));
        let runtime = client.and_then(|client| self.runtimes.get(client));
        match taken.job.action {
            WakeAction::InSession => self.send(taken, way, runtime, &text),
            WakeAction::ResumeSession => {
                let template = runtime.and_then(|runtime| runtime.resume.as_ref());
                self.start(engine, caller, taken, template, &text)
            }
            WakeAction::SpawnSession => {
                let template = runtime.and_then(|runtime| runtime.start.as_ref());
                self.start(engine, caller, taken, template, &text)
            }
            other => Err(Failed::final_(format!("this worker does not know {other}"))),
        }
    }

    /// Sends a prompt into a live session.
    fn send(
        &self,
        taken: &Taken,
        way: Option<&Way>,
        runtime: Option<&Runtime>,
        text: &str,
    ) -> Result<Option<Channel>, Failed> {
        let way = way.ok_or_else(|| Failed::final_("no session is known"))?;
        if way.channel == Some(Channel::OpencodePrompt) {
            opencode::send(way, text)?;
            return Ok(way.channel);
        }
        let template = runtime.and_then(|runtime| runtime.queue.as_ref());
        let command = filled(template, taken, text)?;
        command::run(
            &command,
            &way.folder,
            (None, ACCEPT),
            |_| {},
            || !self.is_over(),
        )
        .map_err(Failed::later)?;
        Ok(way.channel)
    }

    /// Starts an agent, and waits for its end: only then is it known that it took the prompt.
    fn start(
        &self,
        engine: &Engine,
        caller: &Caller,
        taken: &Taken,
        template: Option<&Template>,
        text: &str,
    ) -> Result<Option<Channel>, Failed> {
        let command = filled(template, taken, text)?;
        let folder = match taken.way.as_ref().map(|way| way.folder.clone()) {
            Some(folder) if !folder.is_empty() => folder,
            _ => engine.folder_of(caller).ok().flatten().unwrap_or_default(),
        };
        let named =
            (taken.job.action == WakeAction::SpawnSession).then_some(taken.job.target.as_str());
        let mut renewed = Instant::now();
        let begun = |id| {
            let Some(process) = process::of(id) else {
                return;
            };
            if let Err(fault) = wake::begun(engine, caller, taken, &process) {
                log::warn(format_args!(
                    "{} was started and cannot be noted: {fault}",
                    taken.wake_id
                ));
            }
        };
        command::run(&command, &folder, (named, WORK), begun, || {
            if renewed.elapsed() > RENEW {
                renewed = Instant::now();
                // A lease that cannot be renewed ends; the job is then somebody else's.
                let renewed = wake::renew(engine, caller, taken);
                return !renewed.is_err_and(|fault| fault.code == Code::Conflict);
            }
            !self.is_over()
        })
        .map_err(Failed::later)?;
        Ok(None)
    }
}

/// A step that failed, and whether it may succeed later.
pub struct Failed {
    pub why: String,
    pub retry: bool,
}

impl Failed {
    fn outcome(self) -> Outcome {
        Outcome::Failed {
            code: WakeFailure::WakeFailed,
            why: self.why,
            retry: self.retry,
        }
    }

    pub fn later(why: impl Into<String>) -> Failed {
        Failed {
            why: why.into(),
            retry: true,
        }
    }

    pub fn final_(why: impl Into<String>) -> Failed {
        Failed {
            why: why.into(),
            retry: false,
        }
    }
}

/// What came of sending a prompt.
fn sent(done: Result<Option<Channel>, Failed>) -> Outcome {
    match done {
        Ok(channel) => Outcome::Delivered { channel },
        Err(failed) => failed.outcome(),
    }
}

fn filled(
    template: Option<&Template>,
    taken: &Taken,
    text: &str,
) -> Result<runtimes::Filled, Failed> {
    let template =
        template.ok_or_else(|| Failed::final_("your settings list no command for it"))?;
    let way = taken.way.as_ref();
    let with = Filling {
        session: way.map_or("", |way| way.client_session.as_str()),
        prompt: text,
        thread: &taken.job.thread,
    };
    template.fill(&with).map_err(Failed::final_)
}
