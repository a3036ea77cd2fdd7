//! The session whose terminal `understory run` manages: others see that it is there, and its worker
//! types what it was not told of when nobody else does.
//!
//! The program is told which session it is, so that its MCP process, its hooks and its shells are that
//! session too. A store that is away changes nothing for the person before the terminal.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use understory_engine::system::presence::BEAT_SECONDS;
use understory_engine::system::untold;
use understory_engine::threads::{terminal as reports, ways};
use understory_engine::{Engine, Patience, Seat, Terminal as Report};
use understory_model::thread::Activity;
use understory_model::{Caller, Fault, Time, Via};
use understory_terminal::{Doing, Outcome as News, Remote};

use crate::client::{self, RUN};
use crate::config::{Settings, Surroundings};
use crate::identity::Identity;
use crate::log;
use crate::process::machine;
use crate::store::{STACK_BYTES, Store};
use crate::wake::runtimes::Runtimes;
use crate::wake::terminal::Terminal;
use crate::wake::{Worker, Working};

/// How long the store may work on one call: the end of a program must not wait for long.
const PATIENCE: Duration = Duration::from_secs(5);
/// When a store that could not be opened is tried again.
const AGAIN: Duration = Duration::from_secs(5);
/// How long the terminal may take to say what goes on in it.
const LOOK: Duration = Duration::from_millis(500);
/// How often a server is told that the session is there.
const BEAT: Duration = Duration::from_secs(BEAT_SECONDS);
/// How often a terminal is reported in which nothing changes.
const REPORT: Duration = Duration::from_secs(3_600);

/// A session that is about to be managed.
pub struct Session {
    caller: Caller,
    /// Whether somebody chose the agent's name; otherwise the client's names it.
    named: bool,
    program: String,
    folder: String,
}

impl Session {
    /// `None` for a program that nobody named and that is no agent: it is a person's.
    pub fn new(
        settings: &Settings,
        around: &Surroundings,
        program: &str,
    ) -> Result<Option<Session>, Fault> {
        let identity = Identity::agent(settings, around)?;
        let known = client::of_program(program);
        if settings.agent.value.is_none() && known.is_none() {
            return Ok(None);
        }
        let named = settings.agent.value.is_some();
        Ok(Some(Session {
            caller: identity.caller(known),
            named,
            program: known.unwrap_or(program).to_owned(),
            folder: around.folder.display().to_string(),
        }))
    }

    /// What tells the program and all that it starts which session they are.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut all = vec![
            ("UNDERSTORY_SESSION".into(), (&self.caller.session).into()),
            (RUN.into(), (&self.caller.agent).into()),
        ];
        if self.named {
            all.push(("UNDERSTORY_AGENT".into(), (&self.caller.agent).into()));
        }
        all
    }

    /// Manages it in a thread of its own.
    pub fn manage(
        self,
        settings: &Settings,
        around: &Surroundings,
        remote: Remote,
        news: Receiver<News>,
        reads_text: bool,
    ) -> Managed {
        let patience = Patience {
            statement: PATIENCE,
            read: PATIENCE,
            turn: PATIENCE,
        };
        // The person's program starts whatever is wrong with a file that it does not need.
        let runtimes = Runtimes::usable(around);
        let here = Arc::new(Here {
            store: Store::patient(settings, patience),
            over: AtomicBool::new(false),
            present: Mutex::default(),
        });
        let terminal = Terminal::new(remote.clone(), news, reads_text);
        let worker = Worker::new(runtimes, self.caller.clone(), false);
        let manager = Manager {
            session: self,
            here: Arc::clone(&here),
            worker: worker.with_terminal(Arc::new(terminal)),
            remote,
            reported: None,
            beaten: None,
        };
        let working = manager.worker.working();
        let begun = std::thread::Builder::new()
            .name("managed".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || manager.work());
        if let Err(error) = begun {
            log::warn(format_args!("nothing is typed into the terminal: {error}"));
        }
        Managed { here, working }
    }
}

/// A managed session, until its program has ended.
pub struct Managed {
    here: Arc<Here>,
    working: Working,
}

/// What the manager and the end share.
struct Here {
    store: Arc<Store>,
    over: AtomicBool,
    present: Mutex<Present>,
}

/// What is there of the session.
#[derive(Default)]
struct Present {
    seat: Option<Seat>,
    /// Who it is, once that is known.
    caller: Option<Caller>,
}

impl Here {
    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

impl Managed {
    /// Ends the session with its program.
    pub fn end(self) {
        let Managed { here, working } = self;
        let (seat, caller) = {
            let mut present = here.present();
            here.over.store(true, Ordering::Release);
            (present.seat.take(), present.caller.take())
        };
        drop(seat);
        // What was started beside it must not outlive it, and reports its end to a store that is open.
        drop(working);
        if let (Some(engine), Some(caller)) = (here.store.ready(), caller) {
            let ended = reports::gone(engine, &caller).and_then(|()| engine.leave(&caller));
            if let Err(fault) = ended {
                log::debug(format_args!(
                    "the session's end could not be noted: {fault}"
                ));
            }
        }
        // A store at rest is one file.
        here.store.close();
    }
}

struct Manager {
    session: Session,
    here: Arc<Here>,
    worker: Worker,
    remote: Remote,
    /// What was last reported, for which agent and when.
    reported: Option<(String, Activity, Instant)>,
    beaten: Option<Instant>,
}

impl Manager {
    fn work(mut self) {
        while !self.here.is_over() {
            match self.here.store.get() {
                Ok(engine) => return self.serve(&engine),
                Err(fault) => {
                    log::debug(format_args!("nothing can be typed in: {fault}"));
                    std::thread::sleep(AGAIN);
                }
            }
        }
    }

    fn serve(&mut self, engine: &Arc<Engine>) {
        let mut quiet = engine.quietly();
        while !self.here.is_over() {
            if let Err(fault) = self.pass(engine) {
                log::debug(format_args!("nothing could be typed in: {fault}"));
            }
            quiet.wait();
        }
    }

    fn pass(&mut self, engine: &Arc<Engine>) -> Result<(), Fault> {
        let Some(caller) = self.arrived(engine)? else {
            return Ok(());
        };
        self.report(engine, &caller)?;
        let way = engine.view(&caller, |view| {
            let waits = untold::waits(view)?;
            Ok(ways::own(view, machine())?.filter(|_| !waits))
        })?;
        let worker = self.worker.of(caller);
        if let Some(way) = way {
            worker.own(engine, &way)?;
        }
        worker.pass(engine)
    }

    /// Who the session is; `None` as long as nobody has come in it, or before a workspace's first write.
    fn arrived(&self, engine: &Arc<Engine>) -> Result<Option<Caller>, Fault> {
        let known = {
            let mut present = self.here.present();
            if self.here.is_over() {
                return Ok(None);
            }
            if present.seat.is_none() {
                present.seat = engine.appear(&self.session.caller)?;
            }
            present.caller.clone()
        };
        let agent = match (&known, self.session.named) {
            (Some(known), true) => Some(known.agent.clone()),
            (None, true) => engine.arrive(&self.session.caller, false, None)?,
            // Its client's MCP process or hooks settle the name.
            (_, false) => engine.known_as(&self.session.caller)?,
        };
        let Some(agent) = agent else {
            return Ok(None);
        };
        let caller = Caller {
            agent,
            via: Via::Local,
            ..self.session.caller.clone()
        };
        if known.as_ref() != Some(&caller) {
            self.here.present().caller = Some(caller.clone());
        }
        Ok(Some(caller))
    }

    /// Says what goes on in the terminal, where that changed, and that the session is there.
    fn report(&mut self, engine: &Arc<Engine>, caller: &Caller) -> Result<(), Fault> {
        let silent = self.beaten.is_none_or(|at| at.elapsed() >= BEAT);
        // A server sees no processes.
        if silent && !engine.is_embedded() && engine.touch(caller)? {
            self.beaten = Some(Instant::now());
        }
        let Some(activity) = self.remote.look(LOOK).map(activity) else {
            return Ok(());
        };
        let same = self.reported.as_ref().is_some_and(|(agent, before, at)| {
            *agent == caller.agent && *before == activity && at.elapsed() < REPORT
        });
        if same {
            return Ok(());
        }
        let report = Report {
            session: String::new(),
            agent: String::new(),
            program: self.session.program.clone(),
            machine: machine().to_owned(),
            folder: self.session.folder.clone(),
            activity,
            at: Time::ZERO,
        };
        if reports::report(engine, caller, &report)? {
            self.reported = Some((caller.agent.clone(), activity, Instant::now()));
        }
        Ok(())
    }
}

fn activity(doing: Doing) -> Activity {
    match doing {
        Doing::Idle => Activity::Idle,
        Doing::Busy => Activity::Busy,
        Doing::Typing => Activity::Typing,
        Doing::Dialog => Activity::Dialog,
    }
}
