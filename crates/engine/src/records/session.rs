//! Which session a call speaks for, and how one begins, is saved and ends.

use serde::Serialize;
use serde_json::{Map, Value, json};
use understory_model::caller::check_session_name;
use understory_model::error::{Code, Fault, Result};
use understory_model::item::Named;
use understory_model::nearest::nearest;
use understory_model::text::{check_text, plural, quoted, quoted_list};
use understory_model::{Caller, Id, Via, Ws, limits};
use understory_storage::sessions::{self, Session};
use understory_storage::{Tx, projects::Project};

use super::others::{self, Moment, Other, Shown};
use super::{event, find};
use crate::kinds::EntityKind;
use crate::project;
use crate::work::{Create, Edit};
use crate::{View, Work};

/// A session's handle. One chat may work in several projects, and each has a clock of its own.
pub fn handle(project: Id, name: &str) -> String {
    format!("session:{project}:{name}")
}

/// The session that a call speaks for: the one it names, else the caller's own.
pub fn name<'a>(caller: &'a Caller, named: Option<&'a str>) -> Result<&'a str> {
    let name = named.unwrap_or(&caller.session);
    check_session_name("session_id", name)?;
    Ok(name)
}

/// Makes a write speak for a session, which must be the caller's own.
pub fn speak(work: &mut Work<'_, '_>, named: Option<&str>) -> Result<()> {
    let (name, ws) = (name(work.caller, named)?.to_string(), work.ws());
    check_own(work.tx, ws, work.caller, &name)?;
    work.session = name;
    Ok(())
}

/// Refuses to speak for a session of another. A token is one session's; a process may name any
/// session of its agent, or a new one.
pub fn check_own(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, name: &str) -> Result<()> {
    if name == caller.session {
        return Ok(());
    }
    let foreign = match caller.via {
        Via::Token => true,
        Via::Local | Via::Arriving => sessions::named(tx, ws, name)?
            .iter()
            .any(|session| session.agent != caller.agent),
    };
    if !foreign {
        return Ok(());
    }
    let (shown, own) = (quoted(name), &caller.session);
    Err(Fault::new(
        Code::ClaimMismatch,
        format!("session_id: {shown} is not a session of yours"),
    )
    .details(json!({ "field": "session_id", "session_id": own }))
    .hint("Leave session_id out: your own session is meant."))
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
                kind: EntityKind::Session,
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
    find_spoken(work, project)
}

/// As [`find_to_change`], for what those who direct may do to anybody's session.
pub fn find_directed(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    project: Option<&str>,
) -> Result<Session> {
    match work.caller.role.directs() {
        true => work.session = name(work.caller, named)?.to_string(),
        false => speak(work, named)?,
    }
    find_spoken(work, project)
}

/// Who acted for a session that is not its own, for the log; nothing where it was the session itself.
pub fn on_behalf(work: &Work<'_, '_>) -> Option<Value> {
    let by = &work.caller.session;
    (*by != work.session).then(|| json!({ "by_agent": work.caller.agent, "by_session": by }))
}

fn find_spoken(work: &mut Work<'_, '_>, project: Option<&str>) -> Result<Session> {
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
    let fault = Fault::new(
        Code::SessionNotFound,
        format!("no session {}", quoted(name)),
    );
    let near = nearest(name, open.iter().map(String::as_str), 3);
    if near.is_empty() {
        return fault.hint("activate a record, or create one: that starts the session.");
    }
    fault
        .hint(format!(
            "Did you mean {}? activate a record to start a new one.",
            quoted_list(&near, " or ")
        ))
        .details(json!({ "nearest": near }))
}

/// Whether a session has missed so much that it should sync before it goes on.
pub fn is_stale(session: &Session, project: &Project, stale_after: i64) -> bool {
    session.gap(project.tick) > stale_after
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
    let saved = sessions::held(
        work.tx,
        ws,
        session.id,
        Some(session.saved),
        limits::SESSION_RECORDS,
    )?;
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
    let session = find_directed(work, named, project)?;
    if !session.open {
        return Ok(json!({ "success": true, "deactivated_records": [] }));
    }
    let ws = work.ws();
    let held = sessions::held(work.tx, ws, session.id, None, limits::SESSION_RECORDS)?;
    let unsaved = sessions::held(
        work.tx,
        ws,
        session.id,
        Some(session.saved),
        limits::SESSION_RECORDS,
    )?;
    let (action, reason) = (event::CLOSED, summary.map(str::to_string));
    let details = on_behalf(work);
    change(
        work,
        session.id,
        Edit {
            action,
            reason,
            details,
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

/// Ends the caller's session in every project, because its process has ended; what it held.
pub fn end(work: &mut Work<'_, '_>) -> Result<Vec<String>> {
    let (ws, name) = (work.ws(), work.session.clone());
    let mut released = Vec::new();
    for session in sessions::named(work.tx, ws, &name)? {
        if !session.open {
            continue;
        }
        let held = sessions::held(work.tx, ws, session.id, None, limits::SESSION_RECORDS)?;
        let details = match held.is_empty() {
            true => None,
            false => Some(json!({ "released": few(&held) })),
        };
        let edit = Edit {
            action: event::ENDED,
            details,
            ..Edit::default()
        };
        change(work, session.id, edit)?;
        released.extend(held);
    }
    Ok(released)
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

/// `get_active_sessions` of a record: who is working on it, and who was and left.
pub fn working_on(
    view: &mut View<'_, '_>,
    caller: &Caller,
    named: Option<&str>,
    record: &str,
) -> Result<Value> {
    let own = name(caller, named)?;
    check_own(view.tx, view.ws, caller, own)?;
    let thing = find(view, record)?;
    let moment = Moment {
        now: view.now,
        window: view.rules.conflict_window,
    };
    let all = others::holders(
        view.tx,
        view.ws,
        thing.entity.id,
        moment,
        limits::SESSION_RECORDS,
    )?;
    let (here, left): (Vec<&Other>, Vec<&Other>) = all
        .iter()
        .partition(|other| other.current || other.session.name == own);
    let here: Vec<Holder> = here
        .into_iter()
        .map(|other| Holder::of(other, own))
        .collect();
    let mut answer = json!({ "sessions": here });
    if !left.is_empty() {
        let left: Vec<Shown> = left.iter().map(|other| other.shown()).collect();
        answer["left"] = json!(left);
    }
    Ok(answer)
}

/// A session that has a record active.
#[derive(Serialize)]
struct Holder {
    #[serde(flatten)]
    shown: Shown,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session: Option<String>,
    is_current: bool,
}

impl Holder {
    fn of(other: &Other, own: &str) -> Holder {
        Holder {
            shown: other.shown(),
            created: other.session.created.to_string(),
            parent_session: other.session.parent.clone(),
            is_current: other.session.name == own,
        }
    }
}
