//! `sync_session`: what others changed since this session last looked.

use serde_json::{Map, Value, json};
use understory_model::Seq;
use understory_model::budget::{Budget, Drop, chars, fit_list};
use understory_model::error::Result;
use understory_model::item::Item;
use understory_storage::activity::{self, Wanted};
use understory_storage::sessions::Session;

use super::{event, fields, session};
use crate::Work;
use crate::versions::delta_of;
use crate::work::Edit;

/// Changes that are looked at for one answer, at most.
const MOST: i64 = 2_000;
/// Changes that are read at once.
const CHUNK: i64 = 128;
/// Of an old or new value, what is shown: whole bodies are read by activating.
const LONG: usize = 400;

pub fn sync(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    project: Option<&str>,
    budget: &Budget,
) -> Result<Value> {
    let found = session::find_directed(work, named, project)?;
    let home = work
        .core
        .project(work.tx, found.project)?
        .cloned()
        .unwrap_or_default();
    let gap = found.gap(home.tick);
    let stale = session::is_stale(&found, &home, work.rules.stale_after);
    let missed = (home.changes - found.sync_changes - found.own_changes).max(0);
    let changes = if missed == 0 {
        Vec::new()
    } else {
        changes(work, &found, budget)?
    };
    let action = if found.open {
        event::SYNCED
    } else {
        event::RESUMED
    };
    let details = session::on_behalf(work);
    session::change(
        work,
        found.id,
        Edit {
            action,
            details,
            ..Edit::default()
        },
    )?;
    let mut answer = json!({
        "project_tick": home.tick,
        "session_tick_before": found.sync_tick,
        "tick_gap": gap,
        "changes": changes,
        "session_status": if stale { "stale" } else { "active" },
        "total_changes": missed,
    });
    if stale {
        answer["warning"] = format!(
            "{gap} writes occurred since your last sync; activate again what you go on with."
        )
        .into();
    }
    let answer = fit_list(answer, "changes", budget, Drop::Last);
    Ok(told_of_rest(answer, missed, budget))
}

/// Says how many changes are not among those shown.
fn told_of_rest(mut answer: Value, missed: i64, budget: &Budget) -> Value {
    let shown = answer["changes"].as_array().map_or(0, Vec::len) as i64;
    if shown >= missed {
        return answer;
    }
    answer["truncated"] = true.into();
    answer["omitted_changes"] = (missed - shown).into();
    while !budget.holds(&answer) {
        let popped = answer["changes"].as_array_mut().and_then(Vec::pop);
        if popped.is_none() {
            break;
        }
        let shown = answer["changes"].as_array().map_or(0, Vec::len) as i64;
        answer["omitted_changes"] = (missed - shown).into();
    }
    if budget.holds(&answer) {
        return answer;
    }
    let least = json!({ "changes": [], "truncated": true, "omitted_changes": missed });
    if budget.holds(&least) {
        least
    } else {
        json!({ "changes": [], "truncated": true })
    }
}

/// What others did: first to the records that this session works on, then to all others, newest
/// first.
fn changes(work: &mut Work<'_, '_>, session: &Session, budget: &Budget) -> Result<Vec<Value>> {
    let ws = work.ws();
    // A change takes more than a hundred characters, so no more than these can fit.
    let most = i64::try_from(budget.chars / 100)
        .unwrap_or(MOST)
        .clamp(1, MOST);
    let own = (session.id, session.name.as_str());
    let held = activity::on_held(work.tx, ws, own, event::CHANGES, session.synced, most)?;
    let mut known: Vec<Seq> = held.iter().map(|(_, item)| item.seq).collect();
    known.sort_unstable();
    let mut shown = Shown {
        changes: Vec::new(),
        most: usize::try_from(most).unwrap_or(0),
        room: budget.chars,
    };
    shown.add(held.iter())?;
    let kinds = event::CHANGES.map(str::to_string);
    let mut before = Seq::MAX;
    while !shown.is_full() {
        let wanted = Wanted {
            project: session.project,
            target: None,
            kinds: &kinds,
            except: Some(&session.name),
            after: session.synced,
            before,
            most: CHUNK,
        };
        let others = activity::newest(work.tx, ws, &wanted)?;
        let Some((_, last)) = others.last() else {
            break;
        };
        before = last.seq;
        let new = |one: &&(String, Item)| known.binary_search(&one.1.seq).is_err();
        shown.add(others.iter().filter(new))?;
        if (others.len() as i64) < CHUNK {
            break;
        }
    }
    Ok(shown.changes)
}

/// Changes as they are shown, until there are more than fit.
struct Shown {
    changes: Vec<Value>,
    most: usize,
    /// Characters that are left.
    room: usize,
}

impl Shown {
    fn is_full(&self) -> bool {
        self.room == 0 || self.changes.len() >= self.most
    }

    fn add<'i>(&mut self, found: impl Iterator<Item = &'i (String, Item)>) -> Result<()> {
        for one in found {
            if self.is_full() {
                break;
            }
            let change = change(one)?;
            // The first that does not fit stays: the whole answer is cut later, and told so.
            self.room = self.room.saturating_sub(chars(&change));
            self.changes.push(change);
        }
        Ok(())
    }
}

fn change((kind, item): &(String, Item)) -> Result<Value> {
    let delta = delta_of(item)?;
    let mut shown = Map::new();
    shown.insert("record_id".into(), delta.handle.clone().into());
    let (word, old, new) = match kind.as_str() {
        event::RECORD_CREATED => {
            let data = delta.data.unwrap_or_default();
            let new = json!({
                "type": fields::text(&data, "type"),
                "title": fields::text(&data, "title"),
                "state": fields::state(&data),
            });
            ("created", None, Some(new))
        }
        event::STATE_TRANSITION => {
            let state = delta
                .changes
                .iter()
                .find(|change| change.field() == "state");
            let (old, new) = state.map_or((None, None), |change| {
                (change.before.clone(), change.after.clone())
            });
            ("state_changed", old, new)
        }
        _ => {
            let (mut old, mut new) = (Map::new(), Map::new());
            for change in &delta.changes {
                old.insert(change.field(), shortened(change.before.as_ref()));
                new.insert(change.field(), shortened(change.after.as_ref()));
            }
            (
                "modified",
                Some(Value::Object(old)),
                Some(Value::Object(new)),
            )
        }
    };
    shown.insert("change_type".into(), word.into());
    for (name, value) in [("old_value", old), ("new_value", new)] {
        if let Some(value) = value {
            shown.insert(name.into(), value);
        }
    }
    shown.insert("by_session".into(), item.session.clone().into());
    shown.insert("by_agent".into(), item.actor.clone().into());
    shown.insert("at_tick".into(), delta.tick.unwrap_or(0).into());
    if let Some(reason) = delta.reason {
        shown.insert("reason".into(), shortened(Some(&reason.into())));
    }
    Ok(Value::Object(shown))
}

fn shortened(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) if text.chars().count() > LONG => cut(text),
        Some(Value::String(text)) => text.clone().into(),
        // Of a long list or object, the beginning of its JSON.
        Some(value) => match value.to_string() {
            long if long.chars().count() > LONG => cut(&long),
            _ => value.clone(),
        },
        None => Value::Null,
    }
}

fn cut(text: &str) -> Value {
    let cut: String = text.chars().take(LONG - 1).collect();
    format!("{cut}…").into()
}
