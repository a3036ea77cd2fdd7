//! `get_project_overview`: where a project's reasoning stands, for a chat that begins.

use serde_json::{Value, json};
use understory_model::Caller;
use understory_model::budget::{Budget, chars, fit_lists};
use understory_model::error::Result;
use understory_storage::{records, sessions};

use super::{activity, fields, project, session, shape};
use crate::View;

/// Sessions, and lines of activity, that an overview has.
const SESSIONS: i64 = 20;
const ACTIVITY: i64 = 15;
/// Records that a session works on, of which an overview tells.
const HELD: i64 = 20;

pub fn overview(
    view: Option<&mut View<'_, '_>>,
    caller: &Caller,
    named: Option<&str>,
    budget: &Budget,
) -> Result<Value> {
    let found = match view {
        Some(view) => match project::find(view, caller, named)? {
            Some((home, thing)) => Some(filled(view, &home, &thing, budget)?),
            None => None,
        },
        None => {
            crate::project::nothing_yet(caller, named)?;
            None
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
    let lists = [
        "/root_records",
        "/open_records",
        "/later_records",
        "/recent_activity",
        "/open_sessions",
    ];
    trim(&mut answer, &lists, budget);
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
    let mut open_sessions = Vec::new();
    let mut cut = false;
    for one in sessions::open(tx, ws, home.id, SESSIONS)? {
        let mut held = sessions::held(tx, ws, one.id, None, HELD + 1)?;
        cut |= held.len() as i64 > HELD;
        held.truncate(HELD as usize);
        let stale = session::is_stale(&one, home, stale_after);
        open_sessions.push(json!({
            "id": one.name,
            "active_records": held,
            "last_sync_tick": one.sync_tick,
            "tick_gap": home.tick - one.sync_tick,
            "status": if stale { "stale" } else { "active" },
            "last_activity": one.last_activity.to_string(),
        }));
    }
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
        || (later.len() as i64) < home.later_records
        || (open_sessions.len() as i64) < home.open_sessions;
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

/// Drops from the ends of lists what does not fit, as [`fit_lists`] does. That copies the whole
/// answer for each length that it tries; this measures every element once, and leaves at most the
/// last steps to it.
pub fn trim(answer: &mut Value, lists: &[&str], budget: &Budget) {
    if budget.holds(answer) {
        return;
    }
    // With the comma that parts them.
    let measured = |list: &&str| -> Vec<usize> {
        let items = answer.pointer(list).and_then(Value::as_array);
        let sizes = items.map(|items| items.iter().map(|item| chars(item) + 1).collect());
        sizes.unwrap_or_default()
    };
    let sizes: Vec<Vec<usize>> = lists.iter().map(measured).collect();
    let listed: usize = sizes.iter().flatten().sum();
    let mut size = chars(answer).saturating_sub(listed);
    let longest = sizes.iter().map(Vec::len).max().unwrap_or(0);
    let mut most = 0;
    while most < longest {
        size += sizes
            .iter()
            .filter_map(|sizes| sizes.get(most))
            .sum::<usize>();
        if size > budget.chars {
            break;
        }
        most += 1;
    }
    answer["truncated"] = true.into();
    for _ in 0..4 {
        for list in lists {
            if let Some(Value::Array(items)) = answer.pointer_mut(list) {
                items.truncate(most);
            }
        }
        if most == 0 || budget.holds(answer) {
            return;
        }
        most -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_trimmed_is_what_would_be_cut() {
        let text = |at: usize| "é\n".repeat(at % 7);
        let items = |count: usize| (0..count).map(|at| json!({ "t": text(at) })).collect();
        for (one, other) in [(0, 0), (1, 0), (40, 3), (9, 60)] {
            let (one, other): (Vec<Value>, Vec<Value>) = (items(one), items(other));
            let whole = json!({ "a": one, "b": { "c": other }, "d": "x" });
            for size in 0..chars(&whole) + 20 {
                let budget = Budget::new(Some(size as i64), None, None);
                for lists in [&["/a", "/b/c"][..], &["/b/c"][..]] {
                    let (mut trimmed, mut cut) = (whole.clone(), whole.clone());
                    trim(&mut trimmed, lists, &budget);
                    let fits = fit_lists(&mut trimmed, lists, &budget);
                    assert_eq!(fits, fit_lists(&mut cut, lists, &budget));
                    assert_eq!(trimmed, cut, "{size}");
                }
            }
        }
    }

    #[test]
    fn the_longer_lists_get_what_the_shorter_leave() {
        assert_eq!(share(30, [100, 100, 100]), 10);
        assert_eq!(share(30, [2, 100, 100]), 14);
        assert_eq!(share(30, [100, 2, 3]), 25);
        assert_eq!(share(30, [1, 2, 3]), 3);
        assert_eq!(share(0, [0, 0, 9]), 1);
    }
}
