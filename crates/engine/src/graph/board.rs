//! The tasks of a project by where they stand, as a board and a list show them: who has each and how long,
//! what it waits for, and how many wait for it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::link::DEPENDS_ON;
use understory_model::{Id, Time, limits};
use understory_storage::entities::{self, Entity};
use understory_storage::nodes::{self, Node, Standing};
use understory_storage::plans;
use understory_storage::{links, projects};

use crate::View;
use crate::graph::behind::Behind;
use crate::graph::claim::{self, Expiry, Held};
use crate::graph::project;
use crate::kernel::content::brief::Brief;
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;
use crate::kernel::who;

/// Of what a task waits for, those that are named.
const NAMED: usize = 2;
/// Links that are read to name what tasks wait for.
const LINKS: i64 = 4_000;
/// Claims are counted up to here.
const CLAIMS: i64 = 10_000;

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ready,
    /// Somebody works on it.
    InHand,
    /// Something that it depends on, or that is below it, is open.
    Waits,
    Done,
    Dropped,
}

/// A task as a picture, a board and a list show it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub summary: String,
    pub state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Held>,
    /// Since when its holder gives no sign of life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_since: Option<Time>,
    /// How many open tasks it waits for, and the first of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waits: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<Awaited>,
    /// How many wait for it, directly or through others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unblocks: i64,
    pub priority: f64,
    pub updated_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_by: Option<String>,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// An open task that another waits for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Awaited {
    pub id: String,
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// How many tasks stand where. The root of a project is not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub ready: i64,
    pub in_hand: i64,
    pub waits: i64,
    pub done: i64,
}

impl Counts {
    pub fn open(&self) -> i64 {
        self.ready + self.in_hand + self.waits
    }

    pub fn all(&self) -> i64 {
        self.open() + self.done
    }
}

/// A project whose tasks are shown.
pub struct Plan {
    pub counts: Counts,
    pub behind: Behind,
    pub(crate) home: plans::Home,
    pub(crate) expiry: Expiry,
}

impl Plan {
    /// The project of a name, else the caller's own; `None` where it has no plan yet.
    pub fn of(view: &mut View<'_, '_>, named: Option<&str>) -> Result<Option<Plan>> {
        let caller = view.caller;
        let Some(found) = project::to_read(view, caller, named)? else {
            return Ok(None);
        };
        let Some(root) = found.root else {
            return Ok(None);
        };
        let home = plans::Home {
            project: found.id,
            root,
        };
        let expiry = Expiry::new(&view.rules, view.now);
        Ok(Some(Plan {
            counts: counts(view, &found, home, expiry)?,
            behind: Behind::of(view, home)?,
            home,
            expiry,
        }))
    }

    /// Tasks of one state: those that can be started and those that wait by rank, those that somebody
    /// has by when they were taken, those that are done the last first.
    pub fn lane(&self, view: &mut View<'_, '_>, state: State, most: i64) -> Result<Vec<Task>> {
        let most = most.clamp(1, limits::LISTED_TASKS);
        let unheld = |view: &mut View<'_, '_>, standing| {
            let which = (standing, self.expiry.stale());
            plans::unheld(view.tx, view.ws, self.home, which, most)
        };
        let mut found = match state {
            State::Ready => unheld(view, Standing::Ready)?,
            State::Waits => unheld(view, Standing::Waiting)?,
            State::InHand => {
                let since = self.expiry.stale();
                nodes::in_progress(view.tx, view.ws, self.home.project, since, most + 1)?
            }
            State::Done | State::Dropped => {
                nodes::done_last(view.tx, view.ws, self.home.project, most + 1)?
            }
        };
        found.retain(|node| node.id != self.home.root);
        found.truncate(usize::try_from(most).unwrap_or(0));
        self.tasks(view, &found)
    }

    /// What was changed last, whatever its state.
    pub fn recent(&self, view: &mut View<'_, '_>, most: i64) -> Result<Vec<Task>> {
        let most = most.clamp(1, limits::LISTED_TASKS);
        let found = plans::changed_last(view.tx, view.ws, self.home, most)?;
        self.tasks(view, &found)
    }

    /// Tasks that could be worked on, that for which most others wait first.
    pub fn unblocking(&self, view: &mut View<'_, '_>, most: usize) -> Result<Vec<Task>> {
        let ids: Vec<Id> = self.behind.most(most).iter().map(|(id, _)| *id).collect();
        self.of_ids(view, &ids)
    }

    /// Open tasks by name, at most so many of each state, for who has to name one.
    pub fn open(&self, view: &mut View<'_, '_>, most: i64) -> Result<Vec<Brief>> {
        let stale = self.expiry.stale();
        let project = self.home.project;
        let mut found = nodes::in_progress(view.tx, view.ws, project, stale, most)?;
        for standing in [Standing::Ready, Standing::Waiting] {
            let which = (standing, stale);
            found.extend(plans::unheld(view.tx, view.ws, self.home, which, most)?);
        }
        let ids: Vec<Id> = found.iter().map(|node| node.id).collect();
        let mut there = entities::some(view.tx, view.ws, &ids)?;
        let there = ids.iter().filter_map(|id| there.remove(id));
        there
            .map(|entity| Ok(Brief::of(&Thing::open(entity)?)))
            .collect()
    }

    /// Tasks by their handles, in this order, of whatever project; what does not exist is left out.
    pub fn named(&self, view: &mut View<'_, '_>, handles: &[&str]) -> Result<Vec<Task>> {
        let ids = entities::by_handles(view.tx, view.ws, handles)?;
        let ids: Vec<Id> = handles
            .iter()
            .filter_map(|name| ids.get(*name).copied())
            .collect();
        self.of_ids(view, &ids)
    }

    fn of_ids(&self, view: &mut View<'_, '_>, ids: &[Id]) -> Result<Vec<Task>> {
        let mut found = plans::some(view.tx, view.ws, ids)?;
        let found: Vec<Node> = ids.iter().filter_map(|id| found.remove(id)).collect();
        self.tasks(view, &found)
    }

    /// Nodes as tasks, in the same order.
    pub(crate) fn tasks(&self, view: &mut View<'_, '_>, found: &[Node]) -> Result<Vec<Task>> {
        let waited = Waited::of(view, found)?;
        let ids: Vec<Id> = found.iter().map(|node| node.id).collect();
        let mut there = entities::some(view.tx, view.ws, &ids)?;
        let mut seen = HashMap::new();
        let mut tasks = Vec::with_capacity(found.len());
        for node in found {
            if let Some(entity) = there.remove(&node.id) {
                tasks.push(self.task(view, node, entity, &waited, &mut seen)?);
            }
        }
        Ok(tasks)
    }

    fn task(
        &self,
        view: &mut View<'_, '_>,
        node: &Node,
        entity: Entity,
        waited: &Waited,
        seen: &mut HashMap<String, Option<Time>>,
    ) -> Result<Task> {
        let thing = Thing::open(entity)?;
        let id = thing.entity.handle.clone();
        let claim = match claim::of(node).filter(|one| self.expiry.counts(one)) {
            Some(claim) if !node.resolved => {
                Some(claim::held(view.tx, view.ws, &id, &claim, self.expiry)?)
            }
            _ => None,
        };
        let silent_since = match claim.as_ref().filter(|held| !held.alive) {
            None => None,
            Some(held) => match seen.get(&held.by) {
                Some(known) => *known,
                None => {
                    let last = who::last_seen(view.tx, view.ws, &held.by)?;
                    seen.insert(held.by.clone(), last);
                    last
                }
            },
        };
        let state = match (node.resolved, &claim, node.standing) {
            (true, _, _) if fields::dropped(&thing.data) => State::Dropped,
            (true, _, _) => State::Done,
            (false, Some(_), _) => State::InHand,
            (false, None, Standing::Ready) => State::Ready,
            (false, None, _) => State::Waits,
        };
        let done = node.resolved;
        Ok(Task {
            summary: fields::summary(&thing.data).to_string(),
            state,
            claim,
            silent_since,
            waits: if done {
                0
            } else {
                node.open_deps + node.open_children
            },
            waits_for: waited.named(node.id),
            unblocks: self.behind.count(node.id),
            priority: node.priority,
            updated_at: node.updated,
            done_at: done.then_some(node.resolved_at),
            done_by: done.then(|| node.resolved_by.clone()),
            id,
        })
    }
}

fn counts(
    view: &mut View<'_, '_>,
    found: &projects::Project,
    home: plans::Home,
    expiry: Expiry,
) -> Result<Counts> {
    let (held, held_waiting) = plans::held(view.tx, view.ws, home, expiry.stale(), CLAIMS)?;
    let root = nodes::get(view.tx, view.ws, home.root)?;
    let is_root = |standing| i64::from(root.as_ref().is_some_and(|node| node.standing == standing));
    let waiting = found.total - found.resolved - found.actionable;
    Ok(Counts {
        ready: (found.actionable - is_root(Standing::Ready) - held).max(0),
        in_hand: held + held_waiting,
        waits: (waiting - is_root(Standing::Waiting) - held_waiting).max(0),
        done: found.resolved - is_root(Standing::Resolved),
    })
}

/// What some tasks wait for, read for all of them at once.
struct Waited {
    /// The open ones that each waits for, at most as many as are named.
    of: HashMap<Id, Vec<Id>>,
    known: HashMap<Id, Awaited>,
}

impl Waited {
    fn of(view: &mut View<'_, '_>, found: &[Node]) -> Result<Waited> {
        let open = found.iter().filter(|node| !node.resolved);
        let some = |wanted: fn(&Node) -> i64| -> Vec<Id> {
            let all = open.clone().filter(|node| wanted(node) > 0);
            all.map(|node| node.id).collect()
        };
        let mut pairs = links::leaving(
            view.tx,
            view.ws,
            DEPENDS_ON,
            &some(|node| node.open_deps),
            LINKS,
        )?;
        let parents = some(|node| node.open_children);
        pairs.extend(plans::open_parts(view.tx, view.ws, &parents, LINKS)?);
        let mut targets: Vec<Id> = pairs.iter().map(|(_, target)| *target).collect();
        targets.sort_unstable();
        targets.dedup();
        let nodes = plans::some(view.tx, view.ws, &targets)?;
        let mut of: HashMap<Id, Vec<Id>> = HashMap::new();
        for (source, target) in pairs {
            let named = of.entry(source).or_default();
            let is_open = nodes.get(&target).is_some_and(|node| !node.resolved);
            if is_open && named.len() < NAMED {
                named.push(target);
            }
        }
        let mut named: Vec<Id> = of.values().flatten().copied().collect();
        named.sort_unstable();
        named.dedup();
        let mut known = HashMap::new();
        for (id, entity) in entities::some(view.tx, view.ws, &named)? {
            let thing = Thing::open(entity)?;
            let by = nodes.get(&id).map(|node| node.claimed_by.clone());
            let awaited = Awaited {
                summary: fields::summary(&thing.data).to_string(),
                id: thing.entity.handle,
                by: by.filter(|by| !by.is_empty()),
            };
            known.insert(id, awaited);
        }
        Ok(Waited { of, known })
    }

    fn named(&self, id: Id) -> Vec<Awaited> {
        let named = self.of.get(&id).into_iter().flatten();
        named.filter_map(|id| self.known.get(id).cloned()).collect()
    }
}
