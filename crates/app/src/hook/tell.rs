//! What each event of a chat notes and tells.

use std::sync::Arc;
use std::time::Duration;

use understory_engine::system::chat::{self, Comes};
use understory_engine::system::orient::{self, News};
use understory_engine::system::untold::{self, Job};
use understory_engine::threads::ladder::Way;
use understory_engine::threads::wake::{self, Outcome, Own, Taken};
use understory_engine::threads::ways;
use understory_engine::{Engine, View};
use understory_model::thread::{Activity, Channel};
use understory_model::{Caller, Fault, Time};

use super::beside;
use super::desk::Desk;
use super::event::{Event, Fired, Said, Source};
use super::words;
use crate::wake::{insist, person};
use crate::{log, process};

/// After which pauses a report is tried again: the client waits for the hook.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];

/// What is said, and the jobs of waking that are done when the client has it.
pub struct Told {
    pub said: Said,
    /// Who is told.
    caller: Caller,
    jobs: Vec<Taken>,
}

impl Told {
    fn nothing(desk: &Desk) -> Told {
        Told {
            said: Said::Nothing,
            caller: desk.caller.clone(),
            jobs: Vec::new(),
        }
    }

    /// What is to be reported once the client has what is said.
    pub fn receipts(&self, engine: &Arc<Engine>) -> Receipts {
        Receipts {
            engine: Arc::clone(engine),
            caller: self.caller.clone(),
            jobs: self.jobs.clone(),
            channel: Channel::Hooks,
        }
    }
}

/// Jobs of waking a session whose client has what it is told.
pub struct Receipts {
    pub engine: Arc<Engine>,
    pub caller: Caller,
    pub jobs: Vec<Taken>,
    pub channel: Channel,
}

impl Receipts {
    /// Says of each job that its prompt was delivered.
    pub fn report(&self) {
        let outcome = Outcome::Delivered {
            channel: Some(self.channel),
        };
        let rest = |pause| {
            std::thread::sleep(pause);
            true
        };
        for taken in &self.jobs {
            let done = insist(&PAUSES, rest, || {
                wake::report(&self.engine, &self.caller, taken, &outcome)
            });
            if let Err(fault) = done {
                log::debug(format_args!("a wake could not be reported: {fault}"));
            }
        }
    }

    /// The store did not say what to tell: others may take the jobs at once.
    pub fn release(&self) {
        for taken in &self.jobs {
            if let Err(fault) = wake::give_back(&self.engine, &self.caller, taken) {
                log::debug(format_args!("a wake could not be given back: {fault}"));
            }
        }
    }

    /// Nothing was told for these jobs. What a message alone asked for was told by another hook, or a
    /// call that waited; what somebody asked for is still to be told.
    pub fn give_back(&self) {
        for taken in &self.jobs {
            let unasked = taken.job.reason.as_deref() == Some(wake::UNASKED);
            let channel = Some(Channel::Hooks);
            let done = if unasked {
                let outcome = Outcome::Delivered { channel };
                wake::report(&self.engine, &self.caller, taken, &outcome)
            } else {
                wake::give_back(&self.engine, &self.caller, taken)
            };
            if let Err(fault) = done {
                log::debug(format_args!("a wake could not be given back: {fault}"));
            }
        }
    }
}

/// Notes an event, and what there is to say about it.
pub fn tell(desk: &Desk, fired: &Fired) -> Result<Told, Fault> {
    let nothing = |()| Told::nothing(desk);
    match fired.event {
        Event::SessionStart => session_start(desk, fired),
        Event::Prompt => prompt(desk, fired),
        Event::Stop => stop(desk, fired),
        Event::PreCompact => pre_compact(desk, fired).map(nothing),
        Event::SessionEnd => session_end(desk, fired).map(nothing),
        Event::Wake => Ok(Told::nothing(desk)),
    }
}

/// The session that a hook speaks for, as one that its hooks reach.
fn hooked_way(desk: &Desk, caller: &Caller) -> Way {
    let mut reach = desk.reach.clone();
    reach.session.clone_from(&caller.session);
    reach.agent.clone_from(&caller.agent);
    reach.channel = Channel::Hooks;
    ways::reported(reach, process::machine())
}

fn session_start(desk: &Desk, fired: &Fired) -> Result<Told, Fault> {
    let (firing, reach) = (desk.firing.clone(), desk.reach.clone());
    let (hears, source) = (fired.client.hears(fired.event), fired.source);
    let hook = Hook::of(desk);
    let told = desk.hooked(Comes::Arriving, move |view| {
        let since = orient::last_here(view)?;
        if !orient::answer(view, &firing)? {
            return Ok(None);
        }
        chat::register(view, &reach)?;
        let (said, jobs) = if hears {
            begin(view, source, since, &hook)?
        } else {
            (Said::Nothing, Vec::new())
        };
        let caller = view.caller.clone();
        Ok(Some(Told { said, caller, jobs }))
    })?;
    let Some(told) = told.flatten() else {
        return Ok(Told::nothing(desk));
    };
    start_beside(desk, fired, &told.caller.session);
    Ok(told)
}

/// Starts the process that wakes a chat of a client which needs one.
fn start_beside(desk: &Desk, fired: &Fired, session: &str) {
    if beside::serves(desk.reach.channel) {
        beside::start(desk, fired, session);
    }
}

/// A hook that takes up what somebody asked for.
#[derive(Clone)]
struct Hook {
    way: Way,
    holder: String,
}

impl Hook {
    fn of(desk: &Desk) -> Hook {
        Hook {
            way: hooked_way(desk, &desk.caller),
            holder: holder(),
        }
    }

    /// The requests to wake the speaker that it is told of now.
    fn claim(&self, view: &mut View<'_, '_>) -> Result<(Vec<Taken>, Vec<Job>), Fault> {
        let mut way = self.way.clone();
        way.session.clone_from(&view.caller.session);
        let taken = wake::claim(view, &way, &self.holder)?;
        let mut jobs = untold::jobs(view)?;
        jobs.retain(|job| taken.iter().any(|taken| taken.id == job.id));
        Ok((taken, jobs))
    }
}

/// What names this process among those that take jobs.
pub fn holder() -> String {
    format!("{}-{}", process::machine(), std::process::id())
}

fn begin(
    view: &mut View<'_, '_>,
    source: Source,
    since: Option<Time>,
    hook: &Hook,
) -> Result<(Said, Vec<Taken>), Fault> {
    if source.forgets() {
        untold::lost(view)?;
    }
    let standing = orient::standing(view)?;
    let held = orient::held(view)?;
    let (taken, jobs) = hook.claim(view)?;
    let untold = untold::untold(view)?;
    let news = match since {
        Some(since) => orient::news(view, &standing, since)?,
        None => News::default(),
    };
    let (text, marks) = words::begin(&words::Begin {
        caller: view.caller,
        workspace: view.name,
        standing: &standing,
        held: &held,
        untold: &untold,
        jobs: &jobs,
        news: &news,
        goes_on: source.goes_on(),
    });
    untold::mark(view, &marks)?;
    Ok((Said::Facts(text), taken))
}

fn prompt(desk: &Desk, fired: &Fired) -> Result<Told, Fault> {
    let (firing, hears) = (desk.firing.clone(), fired.client.hears(fired.event));
    let (hook, reach) = (Hook::of(desk), desk.reach.clone());
    let done = desk.hooked(Comes::GoingOn, move |view| {
        let late = chat::register_late(view, &reach)?;
        let caller = view.caller.clone();
        if !orient::answer(view, &firing)? {
            return Ok((late, None));
        }
        chat::active(view, Activity::Busy)?;
        let (said, jobs) = if hears {
            news(view, &hook)?
        } else {
            (Said::Nothing, Vec::new())
        };
        Ok((late, Some(Told { said, caller, jobs })))
    })?;
    let (late, told) = done.unwrap_or_default();
    if let Some(session) = late {
        start_beside(desk, fired, &session);
    }
    Ok(told.unwrap_or_else(|| Told::nothing(desk)))
}

fn news(view: &mut View<'_, '_>, hook: &Hook) -> Result<(Said, Vec<Taken>), Fault> {
    let last = untold::last_telling(view)?;
    let head = orient::head(view)?;
    if last.is_some_and(|last| head <= last.seq) {
        return Ok((Said::Nothing, Vec::new()));
    }
    let mut untold = untold::undelivered(view)?;
    if !untold.is_newer(last.as_ref()) {
        untold = untold::Untold::default();
    }
    let news = match last {
        Some(last) => {
            let standing = orient::standing(view)?;
            orient::news(view, &standing, last.at)?
        }
        None => News::default(),
    };
    let is_asked = untold::jobs(view)?.iter().any(|job| job.asked);
    if untold.is_empty() && news.is_empty() && !is_asked {
        return Ok((Said::Nothing, Vec::new()));
    }
    let (taken, jobs) = hook.claim(view)?;
    if untold.is_empty() && news.is_empty() && jobs.is_empty() {
        return Ok((Said::Nothing, Vec::new()));
    }
    let (text, marks) = words::prompt(&untold, &jobs, &news);
    untold::mark(view, &marks)?;
    Ok((Said::Facts(text), taken))
}

/// What came since the session was last told something makes the turn go on: that is a wake, with a job
/// and within the limits on wakes.
fn stop(desk: &Desk, fired: &Fired) -> Result<Told, Fault> {
    let (firing, hears) = (desk.firing.clone(), fired.client.hears(fired.event));
    let reach = desk.reach.clone();
    let done = desk.hooked(Comes::GoingOn, move |view| {
        let late = chat::register_late(view, &reach)?;
        let open = hears && !orient::is_answered(view, &firing)? && is_open(view)?;
        if open {
            return Ok((late, Some(view.caller.clone())));
        }
        rest(view, &firing)?;
        Ok((late, None))
    })?;
    let (late, open) = done.unwrap_or_default();
    if let Some(session) = late {
        start_beside(desk, fired, &session);
    }
    let Some(caller) = open else {
        return Ok(Told::nothing(desk));
    };
    let way = hooked_way(desk, &caller);
    let Own { jobs, stopped } = wake::own(&desk.engine, &caller, &way, &holder())?;
    person::tell_and_go(&desk.around, &stopped);
    let (firing, none) = (desk.firing.clone(), jobs.is_empty());
    let last = last_of(&jobs);
    let text = desk.hooked(Comes::GoingOn, move |view| {
        if none {
            // The limits say no, or another worker has it.
            return rest(view, &firing).map(|()| None);
        }
        if orient::answer(view, &firing)? {
            take(view, &last)
        } else {
            Ok(None)
        }
    });
    let receipts = |jobs| Receipts {
        engine: Arc::clone(&desk.engine),
        caller: caller.clone(),
        jobs,
        channel: Channel::Hooks,
    };
    match text {
        Ok(Some(Some(text))) => Ok(Told {
            said: Said::GoOn(text),
            caller,
            jobs,
        }),
        Ok(_) => {
            receipts(jobs).give_back();
            Ok(Told::nothing(desk))
        }
        Err(fault) => {
            receipts(jobs).release();
            Err(fault)
        }
    }
}

/// The threads for which a session is woken for the last time.
pub fn last_of(jobs: &[Taken]) -> Vec<String> {
    let last = jobs.iter().filter(|taken| taken.last);
    last.map(|taken| taken.job.thread.clone()).collect()
}

/// The agent stops.
fn rest(view: &mut View<'_, '_>, firing: &orient::Firing) -> Result<(), Fault> {
    if orient::answer(view, firing)? {
        chat::active(view, Activity::Idle)
    } else {
        Ok(())
    }
}

/// Whether there is something that the session was not told of.
pub fn is_open(view: &mut View<'_, '_>) -> Result<bool, Fault> {
    if !untold::jobs(view)?.is_empty() {
        return Ok(true);
    }
    let last = untold::last_telling(view)?;
    Ok(untold::untold(view)?.is_newer(last.as_ref()))
}

/// Takes what the session was not told, with the requests to wake it, and remembers that it is told
/// now; `None` if there is nothing.
pub fn take(view: &mut View<'_, '_>, last_for: &[String]) -> Result<Option<String>, Fault> {
    let last = untold::last_telling(view)?;
    let untold = untold::untold(view)?;
    let jobs = untold::jobs(view)?;
    if !untold.is_newer(last.as_ref()) && !jobs.iter().any(|job| job.asked) {
        return Ok(None);
    }
    let (text, marks) = words::wake(&untold, &jobs, last_for);
    untold::mark(view, &marks)?;
    // One that is told something goes on with its turn, or begins one.
    chat::active(view, Activity::Busy)?;
    Ok(Some(text))
}

/// What an agent holds is in the store, and told again when its chat goes on. That it got so far is
/// marked in the log, for whoever takes over if it never does.
fn pre_compact(desk: &Desk, fired: &Fired) -> Result<(), Fault> {
    if !fired.client.compacts() {
        return Ok(());
    }
    let firing = desk.firing.clone();
    let holds = desk.hooked(Comes::GoingOn, move |view| {
        if !orient::answer(view, &firing)? {
            return Ok(None);
        }
        let held = orient::held(view)?;
        let unread = orient::standing(view)?.unread.messages;
        let note = words::before_compaction(&held, unread);
        Ok(note.map(|note| (view.caller.clone(), note)))
    })?;
    match holds.flatten() {
        Some((caller, note)) => desk.engine.keep_session(&caller, note).map(drop),
        None => Ok(()),
    }
}

fn session_end(desk: &Desk, fired: &Fired) -> Result<(), Fault> {
    // The next chat of the same process goes on as the same session.
    if fired.cleared {
        return Ok(());
    }
    let firing = desk.firing.clone();
    let ended = desk.hooked(Comes::GoingOn, move |view| {
        if !orient::answer(view, &firing)? {
            return Ok(None);
        }
        chat::unreachable(view)?;
        Ok(Some(view.caller.clone()))
    })?;
    match ended.flatten() {
        // Where an MCP process of it still has a place, that ends it.
        Some(caller) => desk.engine.leave(&caller),
        None => Ok(()),
    }
}
