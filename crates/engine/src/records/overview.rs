//! `get_project_overview`: where a project's reasoning stands, for a chat that begins.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Time;
use understory_model::answer::{Fit, Shape, Step};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::record::RecordState;
use understory_storage::projects::Project as Row;
use understory_storage::{records, sessions};

use super::activity::{self, Entry};
use super::project::{self, Project};
use super::session::Standing;
use super::shape::{Reference, references};
use crate::View;
use crate::kernel::alive::is_live;
use crate::kernel::quota::{self, Share};
use crate::kernel::{inbox, who};

/// Sessions, and lines of activity, that an overview has.
const SESSIONS: i64 = 20;
const ACTIVITY: i64 = 15;
/// Sessions that ended without a word, of which an overview tells.
const LEFT: usize = 5;
/// Records that a session works on, of which an overview tells.
const HELD: i64 = 20;

/// The answer of `get_project_overview`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    pub project: Head,
    /// Absent before the project's first write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
    pub open_sessions: Vec<OpenSession>,
    /// Sessions that went silent without being closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_sessions: Vec<LeftSession>,
    pub root_records: Vec<Reference>,
    /// The last changed first.
    pub open_records: Vec<Reference>,
    pub later_records: Vec<Reference>,
    /// Newest first.
    pub recent_activity: Vec<Entry>,
    /// What the caller has not read in its threads.
    pub unread: inbox::Unread,
    /// The quotas that are nearly used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<BTreeMap<String, Share>>,
    /// The others who are here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub here: Vec<who::Brief>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A project in few words.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    pub id: String,
    pub name: String,
    pub description: String,
    pub tick: i64,
}

/// How much there is, shown or not.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    pub records: i64,
    pub root_records: i64,
    pub open_records: i64,
    pub later_records: i64,
    pub open_sessions: i64,
}

/// A session that is at work.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct OpenSession {
    #[serde(flatten)]
    pub session: LeftSession,
    pub alive: bool,
    pub created: Time,
    pub last_sync_tick: i64,
    pub tick_gap: i64,
    pub status: Standing,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
}

/// A session, and what it has active.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeftSession {
    pub id: String,
    pub agent: String,
    pub active_records: Vec<String>,
    pub last_activity: Time,
}

impl Fit for Overview {
    const SHAPE: Shape = Shape::Steps {
        steps: &[Step::Lists(&[
            "/root_records",
            "/open_records",
            "/later_records",
            "/recent_activity",
            "/open_sessions",
            "/here",
        ])],
        rest: &Shape::Fields(&["/project/id", "/project/tick"]),
    };
}

/// Where a project stands; the budget says how many records are looked for.
pub fn overview(view: &mut View<'_, '_>, named: Option<&str>, budget: &Budget) -> Result<Overview> {
    let found = project::find(view, named)?;
    let project = match &found {
        Some((row, thing)) => Project::of(row, thing),
        None => Project::unwritten(view, named),
    };
    let mut overview = Overview {
        project: Head {
            id: project.id,
            name: project.name,
            description: project.description.unwrap_or_default(),
            tick: project.tick,
        },
        totals: None,
        open_sessions: Vec::new(),
        left_sessions: Vec::new(),
        root_records: Vec::new(),
        open_records: Vec::new(),
        later_records: Vec::new(),
        recent_activity: Vec::new(),
        unread: inbox::Unread::default(),
        quota: None,
        here: Vec::new(),
        truncated: false,
    };
    if let Some((home, _)) = found {
        overview.fill(view, &home, budget)?;
    }
    let caller = view.caller;
    overview.unread = inbox::unread(view, caller)?;
    overview.here = who::brief(view, caller)?;
    overview.quota = quota::told(view)?;
    Ok(overview)
}

impl Overview {
    fn fill(&mut self, view: &mut View<'_, '_>, home: &Row, budget: &Budget) -> Result<()> {
        let mut cut = self.add_sessions(view, home)?;
        // Each reference takes more than a hundred characters, so no more than these can fit.
        let room = i64::try_from(budget.chars / 100).unwrap_or(i64::MAX);
        let most = share(
            room,
            [home.root_records, home.open_records, home.later_records],
        );
        let (tx, ws) = (&mut *view.tx, view.ws);
        let roots = records::roots(tx, ws, home.id, most)?;
        let open = records::in_state(tx, ws, home.id, RecordState::Open, most)?;
        let later = records::in_state(tx, ws, home.id, RecordState::Later, most)?;
        cut |= (roots.len() as i64) < home.root_records
            || (open.len() as i64) < home.open_records
            || (later.len() as i64) < home.later_records;
        self.totals = Some(Totals {
            records: home.records,
            root_records: home.root_records,
            open_records: home.open_records,
            later_records: home.later_records,
            open_sessions: home.open_sessions,
        });
        self.root_records = references(&roots);
        self.open_records = references(&open);
        self.later_records = references(&later);
        self.recent_activity = activity::newest(view, home.id, ACTIVITY)?;
        self.truncated = cut;
        Ok(())
    }

    /// The sessions of the project; tells whether some are left out.
    fn add_sessions(&mut self, view: &mut View<'_, '_>, home: &Row) -> Result<bool> {
        let stale_after = view.rules.stale_after;
        let (tx, ws) = (&mut *view.tx, view.ws);
        let mut cut = false;
        for one in sessions::open(tx, ws, home.id, SESSIONS)? {
            let mut held = sessions::held(tx, ws, one.id, None, HELD + 1)?;
            cut |= held.len() as i64 > HELD;
            held.truncate(HELD as usize);
            let alive = is_live(tx, ws, &one.name, view.now)?;
            let status = Standing::of(&one, home, stale_after);
            let tick_gap = one.gap(home.tick);
            let session = LeftSession {
                id: one.name,
                agent: one.agent,
                active_records: held,
                last_activity: one.last_activity,
            };
            if !alive && one.last_activity < view.now.minus(view.rules.conflict_window) {
                self.left_sessions.push(session);
                continue;
            }
            self.open_sessions.push(OpenSession {
                session,
                alive,
                created: one.created,
                last_sync_tick: one.sync_tick,
                tick_gap,
                status,
                parent_session: one.parent,
            });
        }
        // Those that left are counted in the totals; of many, the last few are enough.
        let (here, left) = (self.open_sessions.len(), self.left_sessions.len());
        let complete = (here + left) as i64 >= home.open_sessions;
        cut |= !complete && left == 0;
        self.left_sessions.truncate(LEFT);
        Ok(cut)
    }
}

/// How many each of some lists can have when all together have room for this many.
fn share(mut room: i64, mut lengths: [i64; 3]) -> i64 {
    lengths.sort_unstable();
    let mut left = 3;
    for length in lengths {
        if length >= room / left {
            return (room / left).max(1);
        }
        room -= length;
        left -= 1;
    }
    lengths[2].max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_lists_get_what_the_shorter_leave() {
        assert_eq!(share(30, [100, 100, 100]), 10);
        assert_eq!(share(30, [2, 100, 100]), 14);
        assert_eq!(share(30, [100, 2, 3]), 25);
        assert_eq!(share(30, [1, 2, 3]), 3);
        assert_eq!(share(0, [0, 0, 9]), 1);
    }
}
