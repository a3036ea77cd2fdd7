//! What each event of a chat notes and tells.

use understory_engine::View;
use understory_engine::system::chat::{self, Comes};
use understory_engine::system::orient::{self, News};
use understory_engine::system::untold;
use understory_model::thread::Activity;
use understory_model::{Fault, Time};

use super::beside;
use super::desk::Desk;
use super::event::{Event, Fired, Said, Source};
use super::words;

/// Notes an event, and what there is to say about it.
pub fn tell(desk: &Desk, fired: &Fired) -> Result<Said, Fault> {
    match fired.event {
        Event::SessionStart => session_start(desk, fired),
        Event::Prompt => prompt(desk, fired),
        Event::Stop => stop(desk, fired),
        Event::PreCompact => pre_compact(desk, fired).map(|()| Said::Nothing),
        Event::SessionEnd => session_end(desk, fired).map(|()| Said::Nothing),
        Event::Wake => Ok(Said::Nothing),
    }
}

fn session_start(desk: &Desk, fired: &Fired) -> Result<Said, Fault> {
    let (firing, reach) = (desk.firing.clone(), desk.reach.clone());
    let (hears, source) = (fired.client.hears(fired.event), fired.source);
    let said = desk.hooked(Comes::Arriving, move |view| {
        let since = orient::last_here(view)?;
        if !orient::answer(view, &firing)? {
            return Ok(None);
        }
        chat::register(view, &reach)?;
        let said = match hears {
            true => Said::Facts(begin(view, source, since)?),
            false => Said::Nothing,
        };
        Ok(Some((said, view.caller.session.clone())))
    })?;
    let Some((said, session)) = said.flatten() else {
        return Ok(Said::Nothing);
    };
    if beside::serves(desk.reach.channel) {
        beside::start(desk, fired, &session);
    }
    Ok(said)
}

fn begin(view: &mut View<'_, '_>, source: Source, since: Option<Time>) -> Result<String, Fault> {
    if source.forgets() {
        untold::lost(view)?;
    }
    let standing = orient::standing(view)?;
    let held = orient::held(view)?;
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
        news: &news,
        goes_on: source.goes_on(),
    });
    untold::mark(view, &marks)?;
    Ok(text)
}

fn prompt(desk: &Desk, fired: &Fired) -> Result<Said, Fault> {
    let (firing, hears) = (desk.firing.clone(), fired.client.hears(fired.event));
    let said = desk.hooked(Comes::GoingOn, move |view| {
        if !orient::answer(view, &firing)? {
            return Ok(Said::Nothing);
        }
        chat::active(view, Activity::Busy)?;
        match hears {
            true => news(view),
            false => Ok(Said::Nothing),
        }
    })?;
    Ok(said.unwrap_or(Said::Nothing))
}

fn news(view: &mut View<'_, '_>) -> Result<Said, Fault> {
    let last = untold::last_telling(view)?;
    let head = orient::head(view)?;
    if last.is_some_and(|last| head <= last.seq) {
        return Ok(Said::Nothing);
    }
    let mut untold = untold::untold(view)?;
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
    if untold.is_empty() && news.is_empty() {
        return Ok(Said::Nothing);
    }
    let (text, marks) = words::prompt(&untold, &news);
    untold::mark(view, &marks)?;
    Ok(Said::Facts(text))
}

fn stop(desk: &Desk, fired: &Fired) -> Result<Said, Fault> {
    let (firing, hears) = (desk.firing.clone(), fired.client.hears(fired.event));
    let said = desk.hooked(Comes::GoingOn, move |view| {
        if !orient::answer(view, &firing)? {
            return Ok(Said::Nothing);
        }
        let said = match hears {
            true => untold_text(view)?,
            false => None,
        };
        // One that is told something goes on with its turn.
        let (said, now) = match said {
            Some(text) => (Said::GoOn(text), Activity::Busy),
            None => (Said::Nothing, Activity::Idle),
        };
        chat::active(view, now)?;
        Ok(said)
    })?;
    Ok(said.unwrap_or(Said::Nothing))
}

/// What came since the session was last told something, which it is told now.
fn untold_text(view: &mut View<'_, '_>) -> Result<Option<String>, Fault> {
    let last = untold::last_telling(view)?;
    let untold = untold::untold(view)?;
    if !untold.is_newer(last.as_ref()) {
        return Ok(None);
    }
    let (text, marks) = words::stop(&untold);
    untold::mark(view, &marks)?;
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
