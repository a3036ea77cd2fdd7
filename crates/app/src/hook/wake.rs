//! A hook that waits: Claude Code runs it beside an idle chat, and begins a turn with what it prints
//! when it ends with code 2.
//!
//! At most one waits for a session. It costs next to nothing while it waits, and ends with its
//! client's process or with the session.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use understory_engine::system::chat::{self, Comes};
use understory_engine::system::{orient, untold};
use understory_engine::threads::wake::{self, Own};
use understory_engine::threads::ways;
use understory_model::thread::Channel;
use understory_model::{Caller, Fault, Seq};

use super::desk::Desk;
use super::lock::Lock;
use super::tell::{self, Receipts, holder};
use crate::wake::person;
use crate::{log, process};

/// What the client takes as a reason to begin a turn.
const WAKES: u8 = 2;
/// The hook that begins the chat runs at the same time and tells what is unread; it goes first.
const FIRST: Duration = Duration::from_secs(2);

/// How often it looks although the log has not grown.
const ANYWAY: Duration = Duration::from_secs(60);

/// A hook that is about to wait.
pub struct Waiter {
    desk: Desk,
    /// Who waits.
    caller: Caller,
    /// Whether the chat begins just now.
    begins: bool,
    lock: Arc<Lock>,
}

impl Waiter {
    /// `None` if another waits for the session already, or there is no workspace.
    pub fn new(desk: Desk, begins: bool) -> Result<Option<Waiter>, Fault> {
        let speaker = desk.hooked(Comes::GoingOn, |view| Ok(view.caller.clone()))?;
        let Some(caller) = speaker else {
            return Ok(None);
        };
        let lock = Lock::take("wake", &caller, desk.store.reveal(), &desk.around);
        Ok(lock.map(|lock| Waiter {
            desk,
            caller,
            begins,
            lock: Arc::new(lock),
        }))
    }
}

/// Waits until there is something to tell, and tells it.
pub fn wait(waiter: Waiter) -> ExitCode {
    end_with_client(&waiter.desk, &waiter.lock);
    if waiter.begins {
        std::thread::sleep(FIRST);
    }
    let code = watch(&waiter);
    waiter.desk.engine.close();
    waiter.lock.leave();
    code
}

fn watch(waiter: &Waiter) -> ExitCode {
    let mut quiet = waiter.desk.engine.quietly();
    let (mut seen, mut was_reachable) = (None, false);
    let mut looked = Instant::now();
    loop {
        if looked.elapsed() >= ANYWAY {
            // A wake that the limits put off comes without news.
            (seen, looked) = (None, Instant::now());
        }
        match look(waiter, &mut seen, &mut was_reachable) {
            Ok(Look::Ended) => return ExitCode::SUCCESS,
            Ok(Look::Told(told)) => {
                if is_said(&told.text) {
                    // The client has the text in its pipe, and takes it when this process ends with its code.
                    told.receipts.report();
                    return ExitCode::from(WAKES);
                }
                untell(waiter, &told.receipts);
                return ExitCode::SUCCESS;
            }
            Ok(Look::Nothing) => {}
            Err(fault) => log::debug(format_args!("could not look: {fault}")),
        }
        quiet.wait();
    }
}

fn is_said(text: &str) -> bool {
    let mut err = std::io::stderr();
    let said = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    said.is_ok()
}

/// Nobody heard what was to be said: others may say it.
fn untell(waiter: &Waiter, receipts: &Receipts) {
    receipts.release();
    let forgotten = waiter.desk.hooked(Comes::GoingOn, untold::unheard);
    if let Err(fault) = forgotten {
        log::debug(format_args!("what nobody heard counts as told: {fault}"));
    }
}

/// Ends this process when the client's does.
fn end_with_client(desk: &Desk, lock: &Arc<Lock>) {
    let Some(client) = desk.process.clone() else {
        return;
    };
    let (engine, lock) = (Arc::clone(&desk.engine), Arc::clone(lock));
    let watcher = std::thread::Builder::new().name("client".to_owned());
    let begun = watcher.spawn(move || {
        process::wait_for_end(&client);
        engine.close();
        lock.leave();
        std::process::exit(0);
    });
    if let Err(error) = begun {
        log::debug(format_args!("no thread to watch the client: {error}"));
    }
}

enum Look {
    Nothing,
    Ended,
    Told(Told),
}

/// What is told, and the jobs that it is told for.
struct Told {
    text: String,
    receipts: Receipts,
}

/// Looks whether there is something to tell. Nothing is computed while the log has not grown since
/// the last look that found nothing.
fn look(waiter: &Waiter, seen: &mut Option<Seq>, was_reachable: &mut bool) -> Result<Look, Fault> {
    let Waiter { desk, caller, .. } = waiter;
    let caller = Caller {
        agent: desk.engine.known_as(caller)?.unwrap_or_default(),
        ..caller.clone()
    };
    let before = *seen;
    let (head, reachable, open) = desk.engine.view(&caller, |view| {
        let head = orient::head(view)?;
        let reachable = chat::reach_of(view)?.is_some();
        let open = before != Some(head) && tell::is_open(view)?;
        Ok((head, reachable, open))
    })?;
    if *was_reachable && !reachable {
        return Ok(Look::Ended);
    }
    *was_reachable = reachable;
    if !open {
        *seen = Some(head);
        return Ok(Look::Nothing);
    }
    // While a call of the session waits it is told by that, so this looks again without news.
    if desk.engine.view(&caller, untold::waits)? {
        return Ok(Look::Nothing);
    }
    let Some(reach) = desk.engine.view(&caller, chat::reach_of)? else {
        return Ok(Look::Nothing);
    };
    let way = ways::reported(reach, process::machine());
    let Own { jobs, stopped } = wake::own(&desk.engine, &caller, &way, &holder())?;
    person::tell_and_go(&desk.around, &stopped);
    if jobs.is_empty() {
        // The limits on wakes say no, or another worker has them.
        *seen = Some(head);
        return Ok(Look::Nothing);
    }
    let receipts = Receipts {
        engine: Arc::clone(&desk.engine),
        caller,
        jobs,
        channel: Channel::ClaudeRewake,
    };
    match deliver(desk, tell::last_of(&receipts.jobs)) {
        Ok(Some(text)) => Ok(Look::Told(Told { text, receipts })),
        Ok(None) => {
            receipts.give_back();
            Ok(Look::Nothing)
        }
        Err(fault) => {
            receipts.release();
            Err(fault)
        }
    }
}

/// Takes what the session was not told, with the requests to wake it, and remembers that it is told
/// now; `None` if there is nothing, or a waiting call of the session tells it.
fn deliver(desk: &Desk, last: Vec<String>) -> Result<Option<String>, Fault> {
    let text = desk.hooked(Comes::GoingOn, move |view| {
        if untold::waits(view)? {
            Ok(None)
        } else {
            tell::take(view, &last)
        }
    })?;
    Ok(text.flatten())
}
