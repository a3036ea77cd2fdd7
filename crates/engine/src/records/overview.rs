//! `get_project_overview`: where a project's reasoning stands, for a chat that begins.

use serde_json::{Value, json};
use understory_model::Caller;
use understory_model::budget::{Budget, fit_lists};
use understory_model::error::Result;
use understory_storage::{records, sessions};

use super::{activity, fields, project, session, shape};
use crate::presence::is_live;
use crate::{View, inbox, quota, who};

/// The budget of an overview that names none: a chat begins with it, and about 2,000 tokens orient
/// well. What is left out is counted in `totals`, and list_records pages through it.
pub const CHARS: i64 = 8_000;
/// Sessions, and lines of activity, that an overview has.
const SESSIONS: i64 = 20;
const ACTIVITY: i64 = 15;
/// Sessions that ended without a word, of which an overview tells.
const LEFT: usize = 5;
/// Records that a session works on, of which an overview tells.
const HELD: i64 = 20;

pub fn overview(
    view: Option<&mut View<'_, '_>>,
    caller: &Caller,
    named: Option<&str>,
    budget: &Budget,
) -> Result<Value> {
    let (found, unread, here, quota) = match view {
        Some(view) => {
            let found = match project::find(view, caller, named)? {
                Some((home, thing)) => Some(filled(view, &home, &thing, budget)?),
                None => None,
            };
            (
                found,
                json!(inbox::unread(view, caller)?),
                who::brief(view, caller)?,
                quota::told(view)?,
            )
        }
        None => {
            crate::project::nothing_yet(caller, named)?;
            (None, json!(inbox::Unread::default()), Vec::new(), None)
        }
    };
    let name = named.unwrap_or(&caller.project);
    let mut answer = found.unwrap_or_else(|| {
        json!({
            "project": { "id": name, "name": name, "description": "", "tick": 0 },
            "open_sessions": [],
            "root_records": [],
            "open_records": [],
            "later_records": [],
            "recent_activity": [],
        })
    });
    answer["unread"] = unread;
    if let Some(quota) = quota {
        answer["quota"] = quota;
    }
    if !here.is_empty() {
        answer["here"] = json!(here);
    }
    let lists = [
        "/root_records",
        "/open_records",
        "/later_records",
        "/recent_activity",
        "/open_sessions",
        "/here",
    ];
    if fit_lists(&mut answer, &lists, budget) {
        return Ok(answer);
    }
    let least =
        json!({ "project": { "id": name, "tick": answer["project"]["tick"] }, "truncated": true });
    Ok(if budget.holds(&least) {
        least
    } else {
        json!({ "truncated": true })
    })
}

fn filled(
    view: &mut View<'_, '_>,
    home: &understory_storage::projects::Project,
    thing: &crate::core::Thing,
    budget: &Budget,
) -> Result<Value> {
    let stale_after = view.rules.stale_after;
    let (tx, ws) = (&mut *view.tx, view.ws);
    let (mut open_sessions, mut left) = (Vec::new(), Vec::new());
    let mut cut = false;
    for one in sessions::open(tx, ws, home.id, SESSIONS)? {
        let mut held = sessions::held(tx, ws, one.id, None, HELD + 1)?;
        cut |= held.len() as i64 > HELD;
        held.truncate(HELD as usize);
        let alive = is_live(tx, ws, &one.name, view.now)?;
        let mut shown = json!({
            "id": one.name,
            "agent": one.agent,
            "active_records": held,
            "last_activity": one.last_activity.to_string(),
        });
        if !alive && one.last_activity < view.now.minus(view.rules.conflict_window) {
            left.push(shown);
            continue;
        }
        let stale = session::is_stale(&one, home, stale_after);
        shown["alive"] = alive.into();
        shown["created"] = one.created.to_string().into();
        shown["last_sync_tick"] = one.sync_tick.into();
        shown["tick_gap"] = one.gap(home.tick).into();
        shown["status"] = if stale { "stale" } else { "active" }.into();
        if let Some(parent) = one.parent {
            shown["parent_session"] = parent.into();
        }
        open_sessions.push(shown);
    }
    // Those that left are counted in the totals; of many, the last few are enough.
    let complete = (open_sessions.len() + left.len()) as i64 >= home.open_sessions;
    cut |= !complete && left.is_empty();
    left.truncate(LEFT);
    // Each reference takes more than a hundred characters, so no more than these can fit.
    let room = i64::try_from(budget.chars / 100).unwrap_or(i64::MAX);
    let most = share(
        room,
        [home.root_records, home.open_records, home.later_records],
    );
    let roots = records::roots(tx, ws, home.id, most)?;
    let open = records::in_state(tx, ws, home.id, fields::OPEN, most)?;
    let later = records::in_state(tx, ws, home.id, fields::LATER, most)?;
    cut |= (roots.len() as i64) < home.root_records
        || (open.len() as i64) < home.open_records
        || (later.len() as i64) < home.later_records;
    let mut answer = json!({
        "project": {
            "id": crate::project::name_of(&thing.entity.handle),
            "name": fields::text(&thing.data, "name"),
            "description": project::description(thing).unwrap_or_default(),
            "tick": home.tick,
        },
        "totals": {
            "records": home.records,
            "root_records": home.root_records,
            "open_records": home.open_records,
            "later_records": home.later_records,
            "open_sessions": home.open_sessions,
        },
        "open_sessions": open_sessions,
        "root_records": shape::references(&roots),
        "open_records": shape::references(&open),
        "later_records": shape::references(&later),
        "recent_activity": activity::newest(view, home.id, ACTIVITY)?,
    });
    if !left.is_empty() {
        answer["left_sessions"] = left.into();
    }
    if cut {
        answer["truncated"] = true.into();
    }
    Ok(answer)
}

/// How many each of some lists can have when all together have room for so many.
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
