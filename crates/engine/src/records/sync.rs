//! `sync_session`: what others changed, a page at a time: first what they did to the records that
//! this session works on, then the rest, each from the oldest on. Every change is told once. What a
//! page told is written down, so that only that counts as told, and only what it showed whole
//! counts as seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Answer, json_of};
use understory_model::budget::{Budget, chars_of};
use understory_model::error::{Fault, Result};
use understory_model::item::{Item, Stopped};
use understory_model::page::{Cursor, Key};
use understory_model::record::ActivityKind;
use understory_model::{Id, Seq};
use understory_storage::activity::{self, Untold};
use understory_storage::sessions::{Session, UNKNOWN};

use super::change::{self, Change, Told};
use super::seen::{self, ToldChange};
use super::session::{self, Standing};
use crate::Work;
use crate::kernel::content::session_event as event;
use crate::kernel::work::Edit;

const CURSOR: &str = "records.sync";
/// Changes that are read at once.
const CHUNK: i64 = 64;
/// Characters that one change may take; a longer one is read by activating its record.
const LARGE: usize = 8_000;

/// What a caller asks for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub session: Option<String>,
    pub project: Option<String>,
    pub limit: i64,
    pub cursor: Option<String>,
}

/// The answer of `sync_session`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Synced {
    pub project_tick: i64,
    pub session_tick_before: i64,
    /// How many writes of others the session had missed.
    pub tick_gap: i64,
    pub changes: Vec<Change>,
    pub session_status: Standing,
    pub total_changes: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// How many changes are not told in this answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted_changes: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

pub fn sync(work: &mut Work<'_, '_>, asked: &Asked, budget: &Budget) -> Result<Answer<Synced>> {
    let found = session::find_directed(work, asked.session.as_deref(), asked.project.as_deref())?;
    if let Some(cursor) = &asked.cursor {
        check_cursor(cursor, &found)?;
    }
    let home = work
        .project_row(found.project)?
        .cloned()
        .unwrap_or_default();
    let gap = found.gap(home.tick);
    let status = Standing::of(&found, &home, work.rules.stale_after);
    let missed = missed(work, &found, home.changes)?;
    let known = home.changes - missed;
    let warning = || {
        format!("{gap} writes occurred since your last sync; activate again what you go on with.")
    };
    let envelope = Synced {
        project_tick: home.tick,
        session_tick_before: found.sync_tick,
        tick_gap: gap,
        changes: Vec::new(),
        session_status: status,
        total_changes: missed,
        warning: (status == Standing::Stale).then(warning),
        omitted_changes: None,
        next_cursor: None,
        truncated: false,
    };
    let mut news = News::new(&found);
    let page = match missed {
        0 => Page::default(),
        _ => Page::filled(work, &mut news, &envelope, asked.limit, budget)?,
    };
    let next = |told: usize| {
        let keys = vec![Key::from(found.id), Key::Int(known + told as i64)];
        Cursor::new(CURSOR, keys).encode()
    };
    let (answer, told) = page.fitted(envelope, missed, next, budget)?;
    let rest = match page.news.get(told) {
        Some(first) => Some(first.clone()),
        None if missed > 0 => news.next(work, LARGE)?,
        None => None,
    };
    let stopped = match rest {
        Some(first) => {
            let (synced, tick) = reached(&found, &first);
            Some(Stopped {
                synced,
                tick,
                changes: known + told as i64 - found.own_changes,
                own_ticks: own_ticks(work, &found, (synced, home.tick - tick))?,
            })
        }
        None => None,
    };
    let shown = seen::by_changes(&page.of_held(told), stopped);
    let action = if found.open {
        event::SYNCED
    } else {
        event::RESUMED
    };
    let by = session::on_behalf(work);
    let edit = Edit {
        action,
        shown: Some(shown),
        details: by.map(|by| by.value()).transpose()?,
        ..Edit::default()
    };
    session::change(work, found.id, edit)?;
    Ok(answer)
}

/// A cursor says no more than whose pages they are: the session itself remembers what it was told.
fn check_cursor(cursor: &str, session: &Session) -> Result<()> {
    if session.id == Cursor::decode(cursor, CURSOR)?.int(0)? {
        return Ok(());
    }
    Err(Fault::invalid("cursor", "belongs to another session")
        .hint("Leave the cursor out: sync_session goes on where this session's last one stopped."))
}

/// How many changes of others the session was not told of.
fn missed(work: &mut Work<'_, '_>, session: &Session, all: i64) -> Result<i64> {
    if session.sync_changes != UNKNOWN {
        return Ok((all - session.sync_changes - session.own_changes).max(0));
    }
    let (ws, by) = (work.ws(), (session.name.as_str(), ActivityKind::CHANGES));
    activity::count_after(work.read()?, ws, session.project, by, session.synced)
}

/// Of this many ticks after an item, how many were the session's own.
fn own_ticks(work: &mut Work<'_, '_>, session: &Session, after: (Seq, i64)) -> Result<i64> {
    let (synced, ticks) = after;
    let (ws, name) = (work.ws(), session.name.as_str());
    let mut others = 0;
    for kinds in [ActivityKind::CHANGES, [ActivityKind::SessionSaved; 3]] {
        others += activity::count_after(work.read()?, ws, session.project, (name, kinds), synced)?;
    }
    Ok((ticks - others).max(0))
}

/// The item and the tick up to which everything was told, where this is the first that was not.
fn reached(session: &Session, first: &New) -> (Seq, i64) {
    match first.held {
        // The rest of the project comes after all of these, so nothing of it was told.
        Some(_) => (session.synced, session.sync_tick),
        None => (
            (first.seq - 1).max(session.synced),
            (first.told.tick - 1).max(session.sync_tick),
        ),
    }
}

/// A change that the session was not told yet.
#[derive(Debug, Clone)]
struct New {
    seq: Seq,
    record: Id,
    /// The version that the session last saw, where it works on the record.
    held: Option<i64>,
    told: Told,
}

/// A change as it is read, with the version that the session last saw, where it works on the
/// record.
type NewItem = (ActivityKind, Item, Option<i64>);

/// What a session was not told yet, in the order in which it is told.
struct News {
    session: Session,
    read: std::vec::IntoIter<NewItem>,
    /// The last that was read, of the records that it works on, then of the others.
    last: [Seq; 2],
    of_held: bool,
}

impl News {
    fn new(session: &Session) -> News {
        News {
            session: session.clone(),
            read: Vec::new().into_iter(),
            last: [Seq::ZERO; 2],
            of_held: true,
        }
    }

    /// The next one, told in at most this many characters.
    fn next(&mut self, work: &mut Work<'_, '_>, most: usize) -> Result<Option<New>> {
        loop {
            if let Some((kind, item, held)) = self.read.next() {
                return Ok(Some(New {
                    seq: item.seq,
                    record: item.entity.unwrap_or_default(),
                    held,
                    told: change::told(kind, &item, most)?,
                }));
            }
            if !self.read_on(work)? {
                return Ok(None);
            }
        }
    }

    fn read_on(&mut self, work: &mut Work<'_, '_>) -> Result<bool> {
        let ws = work.ws();
        let untold = Untold {
            project: self.session.project,
            session: (self.session.id, &self.session.name),
            synced: self.session.synced,
            kinds: ActivityKind::CHANGES,
            after: self.last[usize::from(!self.of_held)],
            most: CHUNK,
        };
        let read: Vec<NewItem> = if self.of_held {
            let found = activity::untold_of_held(work.read()?, ws, &untold)?.into_iter();
            found
                .map(|(kind, item, seen)| (kind, item, Some(seen)))
                .collect()
        } else {
            let found = activity::untold_of_others(work.read()?, ws, &untold)?.into_iter();
            found.map(|(kind, item)| (kind, item, None)).collect()
        };
        match read.last() {
            Some((_, last, _)) => self.last[usize::from(!self.of_held)] = last.seq,
            None if self.of_held => self.of_held = false,
            None => return Ok(false),
        }
        self.read = read.into_iter();
        Ok(true)
    }
}

/// The changes of one answer, and perhaps some more than fit.
#[derive(Default)]
struct Page {
    news: Vec<New>,
    /// Whether the budget ended it.
    cut: bool,
}

impl Page {
    fn filled(
        work: &mut Work<'_, '_>,
        news: &mut News,
        envelope: &Synced,
        limit: i64,
        budget: &Budget,
    ) -> Result<Page> {
        // What is said besides where not everything fits takes less than this.
        const REST: usize = 150;
        let most = budget.chars.saturating_sub(chars_of(envelope) + REST);
        let (mut page, mut room) = (Page::default(), most);
        while (page.news.len() as i64) < limit {
            let Some(new) = news.next(work, most.min(LARGE))? else {
                break;
            };
            let size = chars_of(&new.told.shown) + 1;
            page.news.push(new);
            if size > room {
                page.cut = true;
                break;
            }
            room -= size;
        }
        Ok(page)
    }

    /// The answer within its budget, and how many changes it tells: what was told is written down
    /// in the same transaction, so the count is part of the result.
    fn fitted(
        &self,
        envelope: Synced,
        missed: i64,
        next: impl Fn(usize) -> String,
        budget: &Budget,
    ) -> Result<(Answer<Synced>, usize)> {
        // The last of a page that was cut did not fit.
        let mut told = self.news.len() - usize::from(self.cut && !self.news.is_empty());
        let shown = self.news[..told].iter().map(|new| new.told.shown.clone());
        let mut answer = Synced {
            changes: shown.collect(),
            ..envelope
        };
        loop {
            let omitted = missed - told as i64;
            answer.omitted_changes = (omitted > 0).then_some(omitted);
            answer.next_cursor = (omitted > 0 && told > 0).then(|| next(told));
            answer.truncated = told < self.news.len();
            if budget.holds_serialized(&answer) {
                return Ok((answer.into(), told));
            }
            let Some(fewer) = told.checked_sub(1) else {
                return Ok((least(missed, budget)?, 0));
            };
            told = fewer;
            answer.changes.truncate(told);
        }
    }

    /// What of the told changes is about records that the session works on.
    fn of_held(&self, told: usize) -> Vec<ToldChange> {
        let of = |new: &New| {
            Some(ToldChange {
                record: new.record,
                version: new.told.version,
                seq: new.seq,
                seen: new.held?,
                whole: new.told.whole,
            })
        };
        self.news[..told].iter().filter_map(of).collect()
    }
}

/// What is told where there is no room for anything.
#[derive(Serialize)]
struct Least {
    changes: [Change; 0],
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_changes: Option<i64>,
}

/// An answer that has no room for anything.
fn least(missed: i64, budget: &Budget) -> Result<Answer<Synced>> {
    let mut least = Least {
        changes: [],
        truncated: true,
        omitted_changes: (missed > 0).then_some(missed),
    };
    if !budget.holds_serialized(&least) {
        least.omitted_changes = None;
    }
    Ok(Answer::Json(json_of(&least)?))
}
