//! Which session a call speaks for, and how one begins, is saved and ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::caller::check_session_name;
use understory_model::error::{Code, Fault, Result};
use understory_model::item::Named;
use understory_model::nearest::nearest;
use understory_model::record::{SessionData, SessionDetails};
use understory_model::text::{check_text, quoted, quoted_list};
use understory_model::{Caller, Id, Via, Ws, limits};
use understory_storage::ReadTx;
use understory_storage::projects::Project;
use understory_storage::sessions::{self, Session};

use crate::Work;
use crate::kernel::content::session_event as event;
use crate::kernel::project;
use crate::kernel::work::{Create, Edit};
use crate::kinds::EntityKind;

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
    let caller = work.caller;
    check_own(work.read()?, ws, caller, &name)?;
    work.session = name;
    Ok(())
}

/// Refuses to speak for a session of another. A token is one session's; a process may name any
/// session of its agent, or a new one.
pub fn check_own(tx: &mut ReadTx<'_>, ws: Ws, caller: &Caller, name: &str) -> Result<()> {
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
    .detail("field", "session_id")
    .detail("session_id", own.as_str())
    .hint("Leave session_id out: your own session is meant."))
}

/// The session that this write speaks for, if it is open in the project.
pub fn current(work: &mut Work<'_, '_>, project: Id) -> Result<Option<Session>> {
    let handle = handle(project, &work.session);
    let Some(id) = work.by_handle(&handle)? else {
        return Ok(None);
    };
    let session = work.session_row(id)?;
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
    let id = match work.by_handle(&handle)? {
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
            let data = SessionData {
                name,
                parent_session: parent.as_ref().map(|parent| parent.name.clone()),
            };
            let id = work.create(Create {
                kind: EntityKind::Session,
                handle,
                project: Some(project),
                data: data.fields()?,
                ..Create::default()
            })?;
            if let Some(parent) = parent {
                let about = Some(work.named(parent.id)?);
                let details = SessionDetails {
                    parent_session: Some(parent.name),
                    ..SessionDetails::default()
                };
                let details = Some(details.value()?);
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
    match last_active(sessions::named(work.read()?, ws, parent)?) {
        Some(found) => Ok(found),
        None => Err(not_found(work.read()?, ws, Some(project), parent)?),
    }
}

pub fn opened(work: &mut Work<'_, '_>, id: Id) -> Result<Session> {
    let found = work.session_row(id)?.cloned();
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
    details: &SessionDetails,
) -> Result<()> {
    let (about, details) = (Some(about), Some(details.value()?));
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
    if work.caller.role.directs() {
        work.session = name(work.caller, named)?.to_string()
    } else {
        speak(work, named)?
    }
    find_spoken(work, project)
}

/// Who acted for a session that is not its own, for the log; nothing where it was the session
/// itself.
pub fn on_behalf(work: &Work<'_, '_>) -> Option<SessionDetails> {
    let by = work.caller;
    (by.session != work.session).then(|| SessionDetails {
        by_agent: Some(by.agent.clone()),
        by_session: Some(by.session.clone()),
        ..SessionDetails::default()
    })
}

fn find_spoken(work: &mut Work<'_, '_>, project: Option<&str>) -> Result<Session> {
    let (name, ws) = (work.session.clone(), work.ws());
    let caller = work.caller;
    let home = home(work.read()?, ws, caller, project)?;
    match pick(
        sessions::named(work.read()?, ws, &name)?,
        home,
        project.is_some(),
    ) {
        Some(session) => Ok(session),
        None => Err(not_found(work.read()?, ws, home, &name)?),
    }
}

fn home(tx: &mut ReadTx<'_>, ws: Ws, caller: &Caller, named: Option<&str>) -> Result<Option<Id>> {
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

fn not_found(tx: &mut ReadTx<'_>, ws: Ws, home: Option<Id>, name: &str) -> Result<Fault> {
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
        .detail("nearest", near)
}

/// Whether a session has missed so much that it should sync before it goes on.
pub fn is_stale(session: &Session, project: &Project, stale_after: i64) -> bool {
    session.gap(project.tick) > stale_after
}

/// Whether a session knows enough of what others did to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    Active,
    /// It missed so much that it should sync first.
    Stale,
}

impl Standing {
    pub fn of(session: &Session, project: &Project, stale_after: i64) -> Standing {
        if is_stale(session, project, stale_after) {
            Standing::Stale
        } else {
            Standing::Active
        }
    }
}

/// A place in a session that a caller marks: how far it got, or that it ended.
#[derive(Debug, Clone)]
pub struct Mark {
    pub(super) session: Option<String>,
    pub(super) project: Option<String>,
    pub(super) summary: Option<String>,
}

impl Mark {
    pub fn new(
        session: Option<String>,
        project: Option<String>,
        summary: Option<String>,
    ) -> Result<Mark> {
        if let Some(summary) = &summary {
            check_text("summary", summary, limits::TEXT_CHARS, true)?;
        }
        Ok(Mark {
            session,
            project,
            summary,
        })
    }
}

/// Ends the caller's session in every project, because its process has ended; what it held.
pub fn end(work: &mut Work<'_, '_>) -> Result<Vec<String>> {
    let (ws, name) = (work.ws(), work.session.clone());
    let mut released = Vec::new();
    for session in sessions::named(work.read()?, ws, &name)? {
        if !session.open {
            continue;
        }
        let held = sessions::held(work.read()?, ws, session.id, None, limits::SESSION_RECORDS)?;
        let left = (!held.is_empty()).then(|| SessionDetails {
            released: Some(few(&held)),
            ..SessionDetails::default()
        });
        let details = left.map(|left| left.value()).transpose()?;
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

pub(super) fn few(handles: &[String]) -> String {
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

/// What the project's tick becomes by the current write.
pub fn next_tick(work: &mut Work<'_, '_>, project: Id) -> Result<i64> {
    Ok(work.project_row(project)?.map_or(0, |row| row.tick) + 1)
}
