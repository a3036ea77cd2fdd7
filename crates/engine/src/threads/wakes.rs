//! `list_wakes`: who was to be woken, by which step, and what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_model::page::{Cursor, Key};
use understory_model::thread::{Channel, DeferReason, Tried, WakeAction, WakeData, WakeResult};
use understory_model::{Id, Time};
use understory_storage::entities::Entity;
use understory_storage::{threads, wakes};

use super::find;
use crate::View;
use crate::kernel::access::Reader;
use crate::kernel::core::Thing;

/// The name of this list in its cursors.
const LIST: &str = "wakes";
/// Jobs that are looked at for one page, of which the caller may read some.
const LOOKED_AT: i64 = 1_000;

/// Which jobs somebody wants to see.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Of one thread.
    pub thread: Option<String>,
    /// Of waking one agent.
    pub target: Option<String>,
    /// Only those of which something may still become.
    pub open: bool,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// Who was to be woken, and what has come of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Waking {
    pub wake_id: String,
    pub thread_id: String,
    pub target_agent_id: String,
    /// Who asked for it.
    pub asked_by: String,
    pub action: WakeAction,
    pub result: WakeResult,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the target is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The session that the step is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The channel that took the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_reason: Option<DeferReason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_until: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Time>,
    /// Whether an operator forced it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// The steps that failed, the first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    pub created_at: Time,
    pub updated_at: Time,
}

impl Waking {
    /// A job; `None` where words of it were erased from the log.
    pub fn of(job: Entity) -> Result<Option<Waking>> {
        let thing = Thing::open(job)?;
        Ok(WakeData::read(&thing.data).map(|job| Waking {
            thread_id: job.thread,
            target_agent_id: job.target,
            asked_by: job.asked_by.unwrap_or(thing.entity.created_by),
            action: job.action,
            result: job.result,
            reason: job.reason,
            prompt: Some(job.prompt),
            session_id: job.session,
            channel: job.channel,
            defer_reason: job.defer_reason,
            deferred_until: job.deferred_until,
            delivered_at: job.delivered_at,
            forced: job.forced,
            tried: job.tried,
            created_at: thing.entity.created_at,
            updated_at: thing.entity.updated_at,
            wake_id: thing.entity.handle,
        }))
    }
}

/// The answer of `list_wakes`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Wakes {
    /// The last made first.
    pub wakes: Vec<Waking>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The cursor after each job.
    #[serde(skip)]
    cursors: Vec<String>,
}

impl Fit for Wakes {
    const SHAPE: Shape = Shape::Rows { list: "wakes" };

    fn rows(&self) -> usize {
        self.wakes.len()
    }

    fn first(&self, kept: usize) -> Option<Wakes> {
        let kept = kept.min(self.wakes.len());
        let next = if kept == self.wakes.len() {
            self.next_cursor.as_ref()
        } else {
            self.cursors[..kept].last()
        };
        Some(Wakes {
            wakes: self.wakes[..kept].to_vec(),
            next_cursor: next.cloned(),
            cursors: Vec::new(),
        })
    }

    fn lean(&self) -> Vec<Wakes> {
        let Some(mut one) = self.first(1) else {
            return Vec::new();
        };
        for wake in &mut one.wakes {
            (wake.prompt, wake.reason) = (None, None);
            wake.tried.truncate(1);
        }
        vec![one]
    }
}

/// `list_wakes`: the jobs of threads that the caller may read, the last made first.
pub fn wakes(view: &mut View<'_, '_>, asked: &Asked) -> Result<Wakes> {
    if let Some(thread) = &asked.thread {
        find(view, thread)?;
    }
    let before = place(asked.cursor.as_deref())?;
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let (mut found, mut cursors, mut more) = (Vec::new(), Vec::new(), false);
    let mut reader = Reader::new(view.caller);
    for entity in wakes::list(view.tx, view.ws, asked.open, before, LOOKED_AT)? {
        let id = entity.id;
        let thread = threads::woken_for(view.tx, view.ws, id)?.unwrap_or_default();
        let Some(one) = Waking::of(entity)?.filter(|one| is_wanted(one, asked)) else {
            continue;
        };
        if !reader.thread(view.tx, view.ws, thread)? {
            continue;
        }
        if found.len() == most {
            more = true;
            break;
        }
        found.push(one);
        cursors.push(cursor(id));
    }
    Ok(Wakes {
        wakes: found,
        next_cursor: cursors.last().filter(|_| more).cloned(),
        cursors,
    })
}

fn is_wanted(one: &Waking, asked: &Asked) -> bool {
    let same = |wanted: &Option<String>, is: &String| wanted.as_ref().is_none_or(|w| w == is);
    same(&asked.thread, &one.thread_id) && same(&asked.target, &one.target_agent_id)
}

fn cursor(id: Id) -> String {
    Cursor::new(LIST, vec![Key::Int(id.0)]).encode()
}

fn place(cursor: Option<&str>) -> Result<Id> {
    match cursor {
        None => Ok(Id::MAX),
        Some(text) => Cursor::decode(text, LIST)?.int(0),
    }
}
