//! `list_threads`: which threads there are, the last changed first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::error::{Code, Fault, Result};
use understory_model::page::{Cursor, Key};
use understory_model::thread::{Purpose, Status};
use understory_model::{Id, Role, Time};
use understory_storage::threads::{self, Listed, Wanted};

use crate::View;
use crate::kernel::content::message::participants;
use crate::kernel::content::text;
use crate::kernel::core::Thing;
use crate::kernel::inbox::{self, Unread};

/// The name of this list in its cursors.
const LIST: &str = "threads";

/// Which threads somebody wants to see.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub status: Option<Status>,
    /// Only those that hold something unread.
    pub unread: bool,
    /// Those of others too, for a caller who may read them.
    pub all: bool,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// The answer of `list_threads`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Threads {
    /// The last changed first.
    pub threads: Vec<Line>,
    /// What the caller has not read in all of its threads.
    pub unread: Unread,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The cursor after each thread.
    #[serde(skip)]
    pub cursors: Vec<String>,
}

/// A thread in a list.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    pub thread_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participants: Option<Vec<String>>,
    pub created_by: String,
    /// The number of its last message; 0 before the first.
    pub last_seq: i64,
    pub open_findings: i64,
    /// Open findings, and requests that nobody has answered, where there are any of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_items: Option<i64>,
    pub updated_at: Time,
    /// Messages of others that the caller has not read, if it takes part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<i64>,
}

impl Fit for Threads {
    const SHAPE: Shape = Shape::Rows { list: "threads" };

    fn rows(&self) -> usize {
        self.threads.len()
    }

    fn first(&self, kept: usize) -> Option<Threads> {
        let kept = kept.min(self.threads.len());
        let next = if kept == self.threads.len() {
            self.next_cursor.as_ref()
        } else {
            self.cursors[..kept].last()
        };
        Some(Threads {
            threads: self.threads[..kept].to_vec(),
            unread: self.unread.clone(),
            next_cursor: next.cloned(),
            cursors: Vec::new(),
        })
    }

    fn lean(&self) -> Vec<Threads> {
        let Some(mut one) = self.first(1) else {
            return Vec::new();
        };
        for line in &mut one.threads {
            (line.title, line.participants) = (None, None);
        }
        vec![one]
    }
}

/// `list_threads`: the last changed first.
pub fn list(view: &mut View<'_, '_>, asked: &Asked) -> Result<Threads> {
    let caller = view.caller;
    if asked.all && caller.role == Role::Worker {
        let problem = "only an operator, an orchestrator or an auditor lists all threads";
        return Err(Fault::new(Code::InsufficientAuthority, problem)
            .detail("field", "all")
            .hint("Leave out `all`: a worker sees the threads that it takes part in."));
    }
    let wanted = Wanted {
        agent: (!asked.all).then_some(caller.agent.as_str()),
        reader: &caller.agent,
        status: asked.status,
        unread_only: asked.unread,
        before: place(asked.cursor.as_deref())?,
        most: asked.limit + 1,
    };
    let mut rows = threads::list(view.tx, view.ws, &wanted)?;
    let more = rows.len() as i64 > asked.limit;
    rows.truncate(usize::try_from(asked.limit).unwrap_or(0));
    let cursors = rows.iter().map(|row| &row.thread);
    let cursors: Vec<String> = cursors.map(|row| cursor(row.updated, row.id)).collect();
    Ok(Threads {
        threads: rows.into_iter().map(line).collect::<Result<_>>()?,
        unread: inbox::count(view, caller)?,
        next_cursor: cursors.last().filter(|_| more).cloned(),
        cursors,
    })
}

fn line(listed: Listed) -> Result<Line> {
    let thing = Thing::open(listed.entity)?;
    let row = listed.thread;
    let named = participants(&thing.data).map(str::to_string);
    Ok(Line {
        title: Some(text(&thing.data, "title").to_string()),
        purpose: Purpose::parse(text(&thing.data, "type")),
        status: row.status,
        participants: Some(named.collect()),
        created_by: thing.entity.created_by,
        last_seq: row.last,
        open_findings: row.open_findings,
        open_items: (row.open_asks > 0).then_some(row.open_findings + row.open_asks),
        updated_at: row.updated,
        unread: listed.unread,
        thread_id: thing.entity.handle,
    })
}

fn cursor(updated: Time, id: Id) -> String {
    Cursor::new(LIST, vec![Key::Int(updated.0), Key::from(id)]).encode()
}

fn place(cursor: Option<&str>) -> Result<(Time, Id)> {
    match cursor {
        None => Ok((Time(i64::MAX), Id::MAX)),
        Some(text) => {
            let cursor = Cursor::decode(text, LIST)?;
            Ok((Time(cursor.int(0)?), cursor.int(1)?))
        }
    }
}
