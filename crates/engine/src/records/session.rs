//! Which session a call speaks for, and how one begins, is saved and ends.

use serde_json::{Map, Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::item::Named;
use understory_model::nearest::nearest;
use understory_model::text::{check_text, plural};
use understory_model::{Caller, Id, Ws, limits};
use understory_storage::sessions::{self, Session};
use understory_storage::{Tx, projects::Project};

use super::{event, find};
use crate::project;
use crate::projection::SESSION;
use crate::work::{Create, Edit};
use crate::{View, Work};

/// Records that one answer about a session names.
const MOST: i64 = 10_000;

/// A session's handle. One chat may work in several projects, and each has a clock of its own.
pub fn handle(project: Id, name: &str) -> String {
    format!("session:{project}:{name}")
}

/// The session that a call speaks for: the one it names, else the caller's own.
pub fn name<'a>(caller: &'a Caller, named: Option<&'a str>) -> Result<&'a str> {
    let name = named.unwrap_or(&caller.session);
    check_text("session_id", name, limits::NAME_CHARS, false)?;
    if name.chars().any(char::is_control) {
        return Err(Fault::invalid("session_id", "has control characters"));
    }
    Ok(name)
}

/// Makes a write speak for a session.
pub fn speak(work: &mut Work<'_, '_>, named: Option<&str>) -> Result<()> {
    work.session = name(work.caller, named)?.to_string();
    Ok(())
}

/// The session that this write speaks for, if it is open in the project.
pub fn current(work: &mut Work<'_, '_>, project: Id) -> Result<Option<Session>> {
    let handle = handle(project, &work.session);
    let Some(id) = work.core.by_handle(work.tx, &handle)? else {
        return Ok(None);
    };
    let session = work.core.session(work.tx, id)?;
    Ok(session.filter(|session| session.open).cloned())
}

/// The session that this write speaks for, begun or resumed where it is not open.
pub fn enter(work: &mut Work<'_, '_>, project: Id, parent: Option<&str>) -> Result<Session> {
    let name = work.session.clone();
    let handle = handle(project, &name);
    let parent = match parent {
        Some(parent) => Some(branched_from(work, project, parent)?),
        None => None,
    };
    let id = match work.core.by_handle(work.tx, &handle)? {
        Some(id) => {
            if !opened(work, id)?.open {
                change(
                    work,
                    id,
                    Edit {
                        action: event::RESUMED,
                        ..Edit::default()
                    },
                )?;
            }
            id
        }
        None => {
            let mut data = Map::new();
            data.insert("name".into(), name.into());
            if let Some(parent) = &parent {
                data.insert("parent_session".into(), parent.name.clone().into());
            }
            let id = work.create(Create {
                kind: SESSION,
                handle,
                project: Some(project),
                data,
                ..Create::default()
            })?;
            if let Some(parent) = parent {
                let about = Some(work.named(parent.id)?);
                let details = Some(json!({ "parent_session": parent.name }));
                let action = event::BRANCHED;
                change(
                    work,
                    id,
                    Edit {
                        action,
                        about,
                        details,
                        ..Edit::default()
                    },
                )?;
            }
            id
        }
    };
    opened(work, id)
}

fn branched_from(work: &mut Work<'_, '_>, project: Id, parent: &str) -> Result<Session> {
    if parent == work.session {
        return Err(Fault::invalid("parent_session", "is this session itself")
            .hint("Name the session that this one continues, or leave it out."));
    }
    let ws = work.ws();
    match last_active(sessions::named(work.tx, ws, parent)?) {
        Some(found) => Ok(found),
        None => Err(not_found(work.tx, ws, Some(project), parent)?),
    }
}

pub fn opened(work: &mut Work<'_, '_>, id: Id) -> Result<Session> {
    let found = work.core.session(work.tx, id)?.cloned();
    found.ok_or_else(|| {
        Fault::new(Code::StoreCorrupt, format!("session {id} is not in core"))
            .hint("Run `understory rebuild`.")
    })
}

/// Makes the next version of a session: an event in its life.
pub fn change(work: &mut Work<'_, '_>, id: Id, edit: Edit) -> Result<()> {
    work.change(id, edit).map(|_| ())
}

/// Notes in the session's name that a record is contested, or no longer.
pub fn note_conflict(
    work: &mut Work<'_, '_>,
    session: Id,
    action: &'static str,
    about: Named,
    details: Value,
) -> Result<()> {
    let (about, details) = (Some(about), Some(details));
    change(
        work,
        session,
        Edit {
            action,
            about,
            details,
            ..Edit::default()
        },
    )
}

/// The session that a call without a record means, in the project that it means; else the one of
/// that name that was active last in any project.
pub fn find_to_change(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    project: Option<&str>,
) -> Result<Session> {
    speak(work, named)?;
    let (name, ws) = (work.session.clone(), work.ws());
    let home = home(work.tx, ws, work.caller, project)?;
    match pick(
        sessions::named(work.tx, ws, &name)?,
        home,
        project.is_some(),
    ) {
        Some(session) => Ok(session),
        None => Err(not_found(work.tx, ws, home, &name)?),
    }
}

fn home(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, named: Option<&str>) -> Result<Option<Id>> {
    let name = named.unwrap_or(&caller.project);
    project::check_name(name)?;
    let found = understory_storage::entities::by_handle(tx, ws, &project::handle(name))?;
    Ok(found.map(|entity| entity.id))
}

fn pick(all: Vec<Session>, home: Option<Id>, only_there: bool) -> Option<Session> {
    let (here, elsewhere): (Vec<Session>, Vec<Session>) = all
        .into_iter()
        .partition(|session| Some(session.project) == home);
    let elsewhere = if only_there { Vec::new() } else { elsewhere };
    last_active(here).or_else(|| last_active(elsewhere))
}

fn last_active(all: Vec<Session>) -> Option<Session> {
    all.into_iter()
        .max_by_key(|session| (session.open, session.last_activity))
}

fn not_found(tx: &mut Tx<'_>, ws: Ws, home: Option<Id>, name: &str) -> Result<Fault> {
    let open = match home {
        Some(project) => sessions::open(tx, ws, project, 50)?,
        None => Vec::new(),
    };
    Ok(unknown(
        name,
        open.into_iter().map(|one| one.name).collect(),
    ))
}

/// The fault for a session that never began.
pub fn unknown(name: &str, open: Vec<String>) -> Fault {
    let shown: String = name.chars().take(80).collect();
    let fault = Fault::new(Code::SessionNotFound, format!("no session {shown}"));
    let near = nearest(name, open.iter().map(String::as_str), 3);
    if near.is_empty() {
        return fault.hint("activate a record, or create one: that starts the session.");
    }
    fault
        .hint(format!(
            "Did you mean {}? activate a record to start a new one.",
            near.join(" or ")
        ))
        .details(json!({ "nearest": near }))
}

/// Whether a session has missed so much that it should sync before it goes on.
pub fn is_stale(session: &Session, project: &Project, stale_after: i64) -> bool {
    project.tick - session.sync_tick > stale_after
}

/// `save_session`: keeps that the session got this far.
pub fn save(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    project: Option<&str>,
    summary: Option<&str>,
) -> Result<Value> {
    check_summary(summary)?;
    let found = find_to_change(work, named, project)?;
    let session = enter(work, found.project, None)?;
    let ws = work.ws();
    let saved = sessions::held(work.tx, ws, session.id, Some(session.saved), MOST)?;
    let tick = Some(next_tick(work, session.project)?);
    let (action, reason) = (event::SAVED, summary.map(str::to_string));
    change(
        work,
        session.id,
        Edit {
            action,
            reason,
            tick,
            ..Edit::default()
        },
    )?;
    Ok(json!({
        "success": true,
        "saved_records": saved,
        "last_save": work.now.to_string(),
    }))
}

/// `close_session`: ends the session; closing one that is closed changes nothing.
pub fn close(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    project: Option<&str>,
    summary: Option<&str>,
) -> Result<Value> {
    check_summary(summary)?;
    let session = find_to_change(work, named, project)?;
    if !session.open {
        return Ok(json!({ "success": true, "deactivated_records": [] }));
    }
    let ws = work.ws();
    let held = sessions::held(work.tx, ws, session.id, None, MOST)?;
    let unsaved = sessions::held(work.tx, ws, session.id, Some(session.saved), MOST)?;
    let (action, reason) = (event::CLOSED, summary.map(str::to_string));
    change(
        work,
        session.id,
        Edit {
            action,
            reason,
            ..Edit::default()
        },
    )?;
    let mut answer = json!({ "success": true, "deactivated_records": held });
    if !unsaved.is_empty() {
        let (count, some) = (unsaved.len() as i64, few(&unsaved));
        answer["unsaved_warning"] = format!(
            "{} changed since the last save_session: {some}. Every change is kept; \
             only the note of a save is missing.",
            plural(count, "record")
        )
        .into();
    }
    Ok(answer)
}

fn few(handles: &[String]) -> String {
    let shown = handles
        .iter()
        .take(10)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match handles.len() {
        0..=10 => shown,
        more => format!("{shown} and {} more", more - 10),
    }
}

fn check_summary(summary: Option<&str>) -> Result<()> {
    match summary {
        Some(summary) => check_text("summary", summary, limits::TEXT_CHARS, true),
        None => Ok(()),
    }
}

/// What the project's tick becomes by the write under way.
pub fn next_tick(work: &mut Work<'_, '_>, project: Id) -> Result<i64> {
    Ok(work
        .core
        .project(work.tx, project)?
        .map_or(0, |row| row.tick)
        + 1)
}

/// `get_active_sessions`: who is working on a record.
pub fn working_on(
    view: &mut View<'_, '_>,
    caller: &Caller,
    named: Option<&str>,
    record: &str,
) -> Result<Value> {
    let own = name(caller, named)?;
    let thing = find(view, record)?;
    let holders = sessions::holders(view.tx, view.ws, thing.entity.id, MOST)?;
    let shown: Vec<Value> = holders
        .iter()
        .map(|session| {
            json!({
                "session_id": session.name,
                "last_activity": session.last_activity.to_string(),
                "is_current": session.name == own,
            })
        })
        .collect();
    Ok(json!({ "sessions": shown }))
}
