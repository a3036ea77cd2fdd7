//! `graph_onboard`: where a project stands, in one short answer for somebody new.

use serde_json::{Map, Value, json};
use understory_model::Caller;
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_storage::entities;
use understory_storage::nodes::{self, Ready};
use understory_storage::projects::Project;

use crate::View;
use crate::core::Thing;
use crate::graph::{fields, project, shape};
use crate::{inbox, who};

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
            answer.insert("unread".into(), inbox::unread(view, caller)?);
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
            answer.insert("unread".into(), inbox::none());
            false
        }
    };
    if !found {
        answer.insert(
            "summary".into(),
            json!({"total": 0, "resolved": 0, "unresolved": 0, "blocked": 0, "actionable": 0}),
        );
        let hint = "Nothing is planned yet: graph_open names a goal, graph_plan adds work.";
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
            short(fields::summary(&Thing::open(root)?.data)).into(),
        );
    }
    answer.insert("summary".into(), shape::counts(home));
    let mut done = Vec::new();
    for node in nodes::done_last(tx, ws, home.id, MOST)? {
        if let Some(entity) = entities::get(tx, ws, node.id)? {
            let mut line = line(&Thing::open(entity)?);
            line["by"] = node.resolved_by.into();
            line["at"] = node.resolved_at.to_string().into();
            done.push(line);
        }
    }
    let mut doing = Vec::new();
    for id in nodes::in_progress(tx, ws, home.id, view.now.minus(view.rules.claim_ttl), MOST)? {
        if let Some(entity) = entities::get(tx, ws, id)? {
            let thing = Thing::open(entity)?;
            let mut line = line(&thing);
            line["by"] = fields::claim(&thing.data).0.into();
            doing.push(line);
        }
    }
    let ready = Ready {
        project: home.id,
        scope: None,
        keys: &[],
        agent: &caller.agent,
        stale: view.now.minus(view.rules.claim_ttl),
        most: MOST,
    };
    let mut next = Vec::new();
    for id in nodes::ready(view.tx, view.ws, &ready)? {
        if let Some(entity) = entities::get(view.tx, view.ws, id)? {
            next.push(line(&Thing::open(entity)?));
        }
    }
    answer.insert("recent".into(), done.into());
    answer.insert("in_progress".into(), doing.into());
    answer.insert("next".into(), next.into());
    answer.insert("hint".into(), hint(home).into());
    Ok(())
}

fn hint(home: &Project) -> &'static str {
    match (home.actionable, home.total - home.resolved) {
        (_, 0) => "All is done. graph_plan adds work.",
        (0, _) => "Nothing can be started: graph_query with is_blocked shows what waits for what.",
        _ => {
            "Take one: graph_next with claim true. Close it: graph_update with resolved and evidence."
        }
    }
}

fn line(thing: &Thing) -> Value {
    json!({ "id": thing.entity.handle, "summary": short(fields::summary(&thing.data)) })
}

fn short(text: &str) -> String {
    if text.chars().count() <= LINE {
        return text.to_string();
    }
    let cut: String = text.chars().take(LINE - 1).collect();
    format!("{cut}…")
}

/// Drops the least useful lines first until the answer is short enough.
fn fitted(mut answer: Value, budget: &Budget) -> Value {
    let own = Budget::new(Some(MOST_CHARS as i64), None, None);
    let fits = |answer: &Value| budget.holds(answer) && own.holds(answer);
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
