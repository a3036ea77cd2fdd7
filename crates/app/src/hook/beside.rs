//! A process beside a chat, for clients that have no hook which waits. The hook that begins the chat
//! starts it; it lives as long as the client's process and the session, and there is one of it for
//! each session.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use understory_engine::kernel::process::Process;
use understory_engine::system::chat::{self, Comes};
use understory_engine::system::presence::BEAT_SECONDS;
use understory_engine::system::untold;
use understory_engine::threads::ways;
use understory_engine::{Reach, Seat};
use understory_model::thread::Channel;
use understory_model::{Caller, Fault};

use super::Start;
use super::client::Client;
use super::desk::Desk;
use super::event::{Event, Fired, Source};
use super::lock::Lock;
use crate::config::Surroundings;
use crate::wake::runtimes::Runtimes;
use crate::wake::{Worker, Working};
use crate::{log, process};

/// How often a server is told that the chat is there.
const BEAT: Duration = Duration::from_secs(BEAT_SECONDS);
/// What it is called on the command line.
pub const NAME: &str = "beside";

/// Whether it sends prompts through a channel. The others have hooks that wait, or none.
pub fn serves(channel: Channel) -> bool {
    matches!(channel, Channel::CodexQueue | Channel::OpencodePrompt)
}

/// Starts the process, on its own and without a terminal. A chat without it is told at its next
/// prompt and at the end of its turns.
pub fn start(desk: &Desk, fired: &Fired, session: &str) {
    if let Err(error) = try_start(desk, fired, session) {
        log::debug(format_args!("no process beside the chat: {error}"));
    }
}

fn try_start(desk: &Desk, fired: &Fired, session: &str) -> std::io::Result<()> {
    let Some(client) = &desk.process else {
        return Ok(());
    };
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    // Settings that were given as flags are given again.
    let event = fired.event.as_str();
    let given = std::env::args_os().skip(1);
    command.args(given.map(|word| if word == event { NAME.into() } else { word }));
    if !std::env::args_os().any(|word| word == "--session") {
        command.args(["--session", session]);
    }
    if !std::env::args_os().any(|word| word == "--process") {
        command.args(["--process", &client.id.to_string()]);
    }
    command
        .arg("--folder")
        .arg(&desk.around.folder)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

/// A process beside a chat: who it is for, and what it works with.
pub struct Beside {
    pub desk: Desk,
    pub caller: Caller,
    pub client: Process,
    lock: Lock,
    /// The chat is there for as long as this process: its client may serve it from another.
    seat: Mutex<Option<Seat>>,
    /// What its worker starts ends with it.
    working: Mutex<Option<Working>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs as the process beside a chat, until its end.
pub fn main(start: &Start, folder: PathBuf, around: Surroundings) -> ExitCode {
    log::silence();
    // Signals that end the client's terminal are not for this process; it sees its client end.
    #[cfg(unix)]
    let _ = rustix::process::setsid();
    match open(start, folder, around) {
        Ok(Some((beside, reach))) => run(&beside, &reach),
        Ok(None) => {}
        Err(fault) => log::warn(format_args!("nothing runs beside the chat: {fault}")),
    }
    ExitCode::SUCCESS
}

fn open(
    start: &Start,
    folder: PathBuf,
    around: Surroundings,
) -> Result<Option<(Beside, Reach)>, Fault> {
    let client = Client::of(start.client.as_deref(), &around, "")?;
    let (Some(client), Some(session)) = (client, start.flags.session.clone()) else {
        return Ok(None);
    };
    let fired = Fired {
        client,
        event: Event::Wake,
        name: String::new(),
        session,
        folder: Some(folder),
        address: None,
        turn: None,
        hash: String::new(),
        source: Source::Startup,
        cleared: false,
    };
    let Some(desk) = Desk::open(start, around, &fired, Instant::now())? else {
        return Ok(None);
    };
    let known = desk.hooked(Comes::GoingOn, |view| {
        let reach = chat::reach_of(view)?;
        Ok(reach.map(|reach| (view.caller.clone(), reach)))
    })?;
    let (Some((caller, reach)), Some(client)) = (known.flatten(), desk.process.clone()) else {
        return Ok(None);
    };
    let lock = Lock::take(NAME, &caller, desk.store.reveal(), &desk.around);
    Ok(lock.map(|lock| {
        let beside = Beside {
            desk,
            caller,
            client,
            lock,
            seat: Mutex::default(),
            working: Mutex::default(),
        };
        (beside, reach)
    }))
}

/// What is done beside a chat until its client's process or its session ends: it is told of messages
/// through a channel of its client, and other agents are woken as the user's file of runtimes allows.
pub fn run(beside: &Beside, reach: &Reach) {
    let engine = &beside.desk.engine;
    *locked(&beside.seat) = engine.appear(&beside.caller).ok().flatten();
    let worker = Runtimes::read(&beside.desk.around);
    let worker = worker.map(|runtimes| Worker::new(runtimes, beside.caller.clone(), false));
    match &worker {
        Ok(worker) => *locked(&beside.working) = Some(worker.working()),
        Err(fault) => log::warn(format_args!("nobody is woken beside the chat: {fault}")),
    }
    std::thread::scope(|scope| {
        let watcher = std::thread::Builder::new().name("client".to_owned());
        let begun = watcher.spawn_scoped(scope, || {
            process::wait_for_end(&beside.client);
            forget(beside, reach);
            end(beside);
        });
        if begun.is_err() {
            return;
        }
        let mut quiet = engine.quietly();
        let mut beaten: Option<Instant> = None;
        while is_reachable(beside).unwrap_or(true) {
            // A server sees no processes: it is told that the chat is there.
            let silent = beaten.is_none_or(|at| at.elapsed() >= BEAT);
            if silent && !engine.is_embedded() && engine.touch(&beside.caller).is_ok() {
                beaten = Some(Instant::now());
            }
            if let Ok(worker) = &worker
                && let Err(fault) = wake(beside, worker)
            {
                log::debug(format_args!("nobody could be woken: {fault}"));
            }
            quiet.wait();
        }
        end(beside);
    });
}

/// Ends this process, and the session with it if nothing else of the client serves the chat.
fn end(beside: &Beside) -> ! {
    drop(locked(&beside.seat).take());
    // Those at work report to a store that is open. Whoever else ends this process waits for that: the
    // lock is held until it is done.
    drop(locked(&beside.working).take());
    if !is_reachable(beside).unwrap_or(true)
        && let Err(fault) = beside.desk.engine.leave(&beside.caller)
    {
        log::debug(format_args!(
            "the session's end could not be noted: {fault}"
        ));
    }
    beside.desk.engine.close();
    beside.lock.leave();
    std::process::exit(0);
}

/// Tells the chat what it was not told, and takes what other jobs are due.
fn wake(beside: &Beside, worker: &Worker) -> Result<(), Fault> {
    let engine = &beside.desk.engine;
    let way = engine.view(&beside.caller, |view| {
        let waits = untold::waits(view)?;
        Ok(ways::own(view, process::machine())?.filter(|_| !waits))
    })?;
    if let Some(way) = way {
        worker.own(engine, &way)?;
    }
    worker.pass(engine)
}

fn is_reachable(beside: &Beside) -> Result<bool, Fault> {
    let engine = &beside.desk.engine;
    engine.view(&beside.caller, |view| Ok(chat::reach_of(view)?.is_some()))
}

/// Forgets how the chat was reached, unless another process of the client has taken it up since.
fn forget(beside: &Beside, reach: &Reach) {
    let (process, started) = (reach.process, reach.started);
    let done = beside.desk.hooked(Comes::GoingOn, move |view| {
        let now = chat::reach_of(view)?;
        if now.is_some_and(|now| (now.process, now.started) == (process, started)) {
            chat::unreachable(view)?;
        }
        Ok(())
    });
    if let Err(fault) = done {
        log::debug(format_args!("the chat's end could not be noted: {fault}"));
    }
}
