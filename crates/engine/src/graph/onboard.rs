//! `graph_onboard`: where a project stands, in one short answer for somebody new.

use serde::Serialize;
use serde_json::{Map, Value, json};
use understory_model::Caller;
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::text::cut;
use understory_storage::projects::Project;
use understory_storage::ready::{self, Ready};
use understory_storage::{entities, nodes};

use crate::View;
use crate::core::Thing;
use crate::graph::why::{self, Brief, Place, Reason};
use crate::graph::{claim, fields, project, shape};
use crate::{inbox, quota, who};

/// Six hundred tokens of four characters.
pub const MOST_CHARS: usize = 2_400;
const MOST: i64 = 5;
/// Of a summary, what tells one node from another.
const LINE: usize = 100;

pub fn onboard(
    view: Option<&mut View<'_, '_>>,
    caller: &Caller,
    named: Option<&str>,
    budget: &Budget,
) -> Result<Value> {
    let mut answer = Map::new();
    answer.insert("project".into(), named.unwrap_or(&caller.project).into());
    answer.insert("you".into(), caller.agent.clone().into());
    let found = match view {
        Some(view) => {
            let home = project::to_read(view, caller, named)?;
            answer.insert("unread".into(), json!(inbox::unread(view, caller)?));
            if let Some(quota) = quota::told(view)? {
                answer.insert("quota".into(), quota);
            }
            let here = who::brief(view, caller)?;
            if !here.is_empty() {
                answer.insert("here".into(), json!(here));
            }
            if let Some(home) = &home {
                fill(view, caller, home, &mut answer)?;
            }
            home.is_some()
        }
        None => {
            project::nothing_yet(caller, named)?;
            answer.insert("unread".into(), json!(inbox::Unread::default()));
            false
        }
    };
    if !found {
        answer.insert(
            "summary".into(),
            json!({"total": 0, "resolved": 0, "unresolved": 0, "blocked": 0, "actionable": 0}),
        );
        let reason = Reason::nothing_planned(named.unwrap_or(&caller.project));
        let hint = format!("{} {}", reason.message, reason.hint());
        answer.insert("hint".into(), hint.into());
    }
    Ok(fitted(Value::Object(answer), budget))
}

fn fill(
    view: &mut View<'_, '_>,
    caller: &Caller,
    home: &Project,
    answer: &mut Map<String, Value>,
) -> Result<()> {
    answer.insert("workspace".into(), view.name.into());
    let (tx, ws) = (&mut *view.tx, view.ws);
    if let Some(root) = home
        .root
        .map(|id| entities::get(tx, ws, id))
        .transpose()?
        .flatten()
    {
        answer.insert("root".into(), root.handle.clone().into());
        answer.insert(
            "goal".into(),
            fields::summary(&Thing::open(root)?.data).into(),
        );
    }
    answer.insert("summary".into(), shape::counts(home));
    answer.insert("recent".into(), json!(recent(view, home)?));
    answer.insert("in_progress".into(), json!(in_progress(view, home)?));
    let (next, hint) = next(view, caller, home)?;
    answer.insert("next".into(), json!(next));
    answer.insert("hint".into(), hint.into());
    Ok(())
}

/// A node that was closed.
#[derive(Debug, Serialize)]
struct Closed {
    #[serde(flatten)]
    node: Brief,
    by: String,
    at: String,
    /// It was given up rather than done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dropped: bool,
}

/// A node that somebody works on.
#[derive(Debug, Serialize)]
struct Doing {
    #[serde(flatten)]
    node: Brief,
    by: String,
    session: String,
    since: String,
}

fn recent(view: &mut View<'_, '_>, home: &Project) -> Result<Vec<Closed>> {
    let mut closed = Vec::new();
    for node in nodes::done_last(view.tx, view.ws, home.id, MOST)? {
        if let Some(entity) = entities::get(view.tx, view.ws, node.id)? {
            let thing = Thing::open(entity)?;
            closed.push(Closed {
                node: line(&thing),
                by: node.resolved_by,
                at: node.resolved_at.to_string(),
                dropped: fields::dropped(&thing.data),
            });
        }
    }
    Ok(closed)
}

fn in_progress(view: &mut View<'_, '_>, home: &Project) -> Result<Vec<Doing>> {
    let since = view.now.minus(view.rules.claim_ttl);
    let mut doing = Vec::new();
    for node in nodes::in_progress(view.tx, view.ws, home.id, since, MOST)? {
        if let Some(entity) = entities::get(view.tx, view.ws, node.id)? {
            doing.push(Doing {
                node: line(&Thing::open(entity)?),
                by: node.claimed_by,
                session: node.claimed_session,
                since: node.claimed_at.to_string(),
            });
        }
    }
    Ok(doing)
}

/// What the caller could start, and what to do about it.
fn next(view: &mut View<'_, '_>, caller: &Caller, home: &Project) -> Result<(Vec<Brief>, String)> {
    let (rules, now) = (view.rules, view.now);
    let holder = (caller.agent.as_str(), caller.session.as_str());
    let ended = claim::ended_sessions(view.tx, view.ws, home.id, holder, (&rules, now))?;
    let ready = Ready {
        project: home.id,
        scope: None,
        keys: &[],
        agent: &caller.agent,
        session: &caller.session,
        ended: &ended,
        stale: now.minus(rules.claim_ttl),
        most: MOST,
    };
    let ids = match why::has_plan(home) {
        true => ready::ready(view.tx, view.ws, &ready)?,
        false => Vec::new(),
    };
    if ids.is_empty() {
        let name = view.entity(home.id)?.map(|entity| entity.handle);
        let place = Place {
            project: project::name_of(name.as_deref().unwrap_or_default()),
            scope: None,
        };
        let reason = why::empty(view.tx, view.ws, home, (&ready, &place), (&rules, now))?;
        return Ok((Vec::new(), format!("{} {}", reason.message, reason.hint())));
    }
    let mut next = Vec::new();
    for id in ids {
        if let Some(entity) = entities::get(view.tx, view.ws, id)? {
            next.push(line(&Thing::open(entity)?));
        }
    }
    Ok((next, TAKE_ONE.to_string()))
}

const TAKE_ONE: &str = "Take one: graph_next {claim: true}. Close it: graph_update {updates: \
                        [{node_id, resolved: true, add_evidence}]}.";

fn line(thing: &Thing) -> Brief {
    Brief {
        id: thing.entity.handle.clone(),
        summary: cut(fields::summary(&thing.data), LINE),
    }
}

/// Cuts a goal that is too long for the whole to what is left beside the rest, but no further than
/// to a line.
fn shorten_goal(answer: &mut Value, fits: &impl Fn(&Value) -> bool) {
    let goal = answer["goal"].as_str().unwrap_or_default().to_string();
    if fits(answer) || goal.chars().count() <= LINE {
        return;
    }
    let (mut least, mut most) = (LINE, goal.chars().count());
    while least + 1 < most {
        let middle = least.midpoint(most);
        answer["goal"] = cut(&goal, middle).into();
        match fits(answer) {
            true => least = middle,
            false => most = middle,
        }
    }
    answer["goal"] = cut(&goal, least).into();
}

/// Drops the least useful lines first until the answer is short enough.
fn fitted(mut answer: Value, budget: &Budget) -> Value {
    let own = Budget::new(Some(MOST_CHARS as i64), None, None);
    let fits = |answer: &Value| budget.holds(answer) && own.holds(answer);
    shorten_goal(&mut answer, &fits);
    for list in ["recent", "here", "in_progress", "next"] {
        while !fits(&answer)
            && let Some(lines) = answer[list].as_array_mut().filter(|lines| lines.len() > 1)
        {
            lines.pop();
            answer["truncated"] = true.into();
        }
    }
    if fits(&answer) {
        return answer;
    }
    let counts = json!({
        "threads": answer["unread"]["threads"],
        "messages": answer["unread"]["messages"],
    });
    let least = json!({
        "project": answer["project"],
        "summary": answer["summary"],
        "unread": counts,
        "truncated": true,
    });
    if fits(&least) {
        least
    } else {
        json!({ "truncated": true })
    }
}
