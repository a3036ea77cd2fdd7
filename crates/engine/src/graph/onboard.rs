//! `graph_onboard`: where a project stands, in one short answer for somebody new.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{self, Answer, Fit, Shape, Step};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::text::cut;
use understory_model::{Caller, Time, limits};
use understory_storage::projects::Project;
use understory_storage::ready::{self, Ready};
use understory_storage::{entities, nodes};

use crate::View;
use crate::graph::claim::Expiry;
use crate::graph::shape::Counts;
use crate::graph::why::{self, Place, Reason};
use crate::graph::{claim, project};
use crate::kernel::content::brief::Brief;
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;
use crate::kernel::inbox::{self, Unread};
use crate::kernel::quota::{self, Share};
use crate::kernel::who;

/// Six hundred tokens of four characters.
const NAMED: i64 = 5;
/// Of a summary, what tells one node from another.
const LINE: usize = 100;

/// The answer of `graph_onboard`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Onboard {
    pub project: String,
    /// The caller's name.
    pub you: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    pub unread: Unread,
    /// The quotas that are nearly used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<BTreeMap<String, Share>>,
    /// Other agents who are here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub here: Vec<who::Brief>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    pub summary: Counts,
    /// What was closed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<Vec<Closed>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_progress: Option<Vec<Doing>>,
    /// What the caller could start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Vec<Brief>>,
    /// What to do next.
    pub hint: String,
    /// There is more than is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Fit for Onboard {
    /// The least useful lines go first, and of each list all but one.
    const SHAPE: Shape = Shape::Steps {
        steps: &[
            Step::Last {
                list: "/recent",
                but: 1,
            },
            Step::Last {
                list: "/here",
                but: 1,
            },
            Step::Last {
                list: "/in_progress",
                but: 1,
            },
            Step::Last {
                list: "/next",
                but: 1,
            },
        ],
        rest: &Shape::Fields(&[
            "/project",
            "/summary",
            "/unread/threads",
            "/unread/messages",
        ]),
    };
}

/// A node that was closed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Closed {
    pub id: String,
    pub summary: String,
    pub by: String,
    pub at: Time,
    /// It was given up rather than done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
}

/// A node that somebody works on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Doing {
    pub id: String,
    pub summary: String,
    pub by: String,
    pub session: String,
    pub since: Time,
}

pub fn onboard(
    view: &mut View<'_, '_>,
    named: Option<&str>,
    budget: &Budget,
) -> Result<Answer<Onboard>> {
    let caller = view.caller;
    let home = project::to_read(view, caller, named)?;
    let project = named.unwrap_or(&caller.project);
    let mut answer = Onboard {
        project: project.to_string(),
        you: caller.agent.clone(),
        unread: inbox::unread(view, caller)?,
        quota: quota::told(view)?,
        here: who::brief(view, caller)?,
        ..Onboard::default()
    };
    match &home {
        Some(home) => fill(view, caller, home, &mut answer)?,
        None => {
            let reason = Reason::nothing_planned(project);
            answer.hint = format!("{} {}", reason.message, reason.hint());
        }
    }
    fitted(answer, budget)
}

fn fill(
    view: &mut View<'_, '_>,
    caller: &Caller,
    home: &Project,
    answer: &mut Onboard,
) -> Result<()> {
    answer.workspace = Some(view.name.to_string());
    let root = match home.root {
        Some(id) => entities::get(view.tx, view.ws, id)?,
        None => None,
    };
    if let Some(root) = root.map(Thing::open).transpose()? {
        answer.goal = Some(fields::summary(&root.data).to_string());
        answer.root = Some(root.entity.handle);
    }
    answer.summary = home.into();
    answer.recent = Some(recent(view, home)?);
    answer.in_progress = Some(in_progress(view, home)?);
    let (next, hint) = next(view, caller, home)?;
    (answer.next, answer.hint) = (Some(next), hint);
    Ok(())
}

fn recent(view: &mut View<'_, '_>, home: &Project) -> Result<Vec<Closed>> {
    let mut closed = Vec::new();
    for node in nodes::done_last(view.tx, view.ws, home.id, NAMED)? {
        if let Some(entity) = entities::get(view.tx, view.ws, node.id)? {
            let thing = Thing::open(entity)?;
            let Brief { id, summary } = line(&thing);
            closed.push(Closed {
                id,
                summary,
                by: node.resolved_by,
                at: node.resolved_at,
                dropped: fields::dropped(&thing.data),
            });
        }
    }
    Ok(closed)
}

fn in_progress(view: &mut View<'_, '_>, home: &Project) -> Result<Vec<Doing>> {
    let since = view.now.minus(view.rules.claim_ttl);
    let mut doing = Vec::new();
    for node in nodes::in_progress(view.tx, view.ws, home.id, since, NAMED)? {
        if let Some(entity) = entities::get(view.tx, view.ws, node.id)? {
            let Brief { id, summary } = line(&Thing::open(entity)?);
            doing.push(Doing {
                id,
                summary,
                by: node.claimed_by,
                session: node.claimed_session,
                since: node.claimed_at,
            });
        }
    }
    Ok(doing)
}

/// What the caller could start, and what to do about it.
fn next(view: &mut View<'_, '_>, caller: &Caller, home: &Project) -> Result<(Vec<Brief>, String)> {
    let expiry = Expiry::new(&view.rules, view.now);
    let holder = (caller.agent.as_str(), caller.session.as_str());
    let ended = claim::ended_sessions(view.tx, view.ws, home.id, holder, expiry)?;
    let ready = Ready {
        project: home.id,
        scope: None,
        keys: &[],
        agent: &caller.agent,
        session: &caller.session,
        ended: &ended,
        stale: expiry.stale(),
        most: NAMED,
    };
    let ids = if why::has_plan(home) {
        ready::ready(view.tx, view.ws, &ready)?
    } else {
        Vec::new()
    };
    if ids.is_empty() {
        let name = view.entity(home.id)?.map(|entity| entity.handle);
        let place = Place {
            project: project::name_of(name.as_deref().unwrap_or_default()),
            scope: None,
        };
        let reason = why::empty(view.tx, view.ws, home, &ready, &place, expiry)?;
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

/// The answer within the budget, or what an onboarding may take. A goal that is too long is cut
/// before any line goes: that is no truncation, for the root says it whole.
fn fitted(mut answer: Onboard, budget: &Budget) -> Result<Answer<Onboard>> {
    let own = Budget {
        chars: budget.chars.min(limits::ONBOARD_CHARS),
        ..*budget
    };
    shorten_goal(&mut answer, &own);
    answer::fit(answer, &own)
}

/// Cuts a goal that is too long for the whole to what is left beside the rest, but no further than
/// to a line.
fn shorten_goal(answer: &mut Onboard, budget: &Budget) {
    let goal = answer.goal.clone().unwrap_or_default();
    if budget.holds_serialized(answer) || goal.chars().count() <= LINE {
        return;
    }
    let (mut least, mut most) = (LINE, goal.chars().count());
    while least + 1 < most {
        let middle = least.midpoint(most);
        answer.goal = Some(cut(&goal, middle));
        if budget.holds_serialized(answer) {
            least = middle
        } else {
            most = middle
        }
    }
    answer.goal = Some(cut(&goal, least));
}
