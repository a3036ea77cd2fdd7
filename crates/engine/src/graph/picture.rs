//! The dependency graph of a project as a picture: all open tasks with what they came from, or, of a large
//! plan, the surroundings of one task, in which what is not drawn is counted.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::link::DEPENDS_ON;
use understory_model::{Id, limits};
use understory_storage::nodes::{self, Node, Standing};
use understory_storage::{entities, links, plans};

use crate::View;
use crate::graph::board::{Plan, Task};
use crate::graph::find_surviving;

/// Links that are read of one step, and tasks of a step from which the next one goes on.
const LINKS: i64 = 10_000;
const GOES_ON: usize = 1_000;
/// Tasks of a step that are compared to choose those that are drawn.
const COMPARED: usize = 512;

/// What is drawn.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Picture {
    /// The task around which the picture is; none where it shows the whole plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<i64>,
    pub tasks: Vec<Task>,
    /// What must come first, and what comes after it.
    pub edges: Vec<Edge>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folds: Vec<Fold>,
}

/// One thing that must come before another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    pub first: String,
    pub then: String,
    /// The first is done.
    pub satisfied: bool,
}

/// Tasks of one step that are counted rather than drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    /// Steps from the focus: below zero before it, above zero after it.
    pub step: i64,
    pub count: i64,
    /// There are more than were counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Asked<'a> {
    /// The task around which it is to be; where none is named, a plan that fits is shown whole.
    pub around: Option<&'a str>,
    pub steps: i64,
}

impl Plan {
    pub fn picture(&self, view: &mut View<'_, '_>, asked: &Asked<'_>) -> Result<Picture> {
        let around = match asked.around {
            Some(handle) => Some(find_surviving(view, handle)?.id),
            None if self.counts.open() > limits::PICTURE_TASKS => self.focus(view)?,
            None => None,
        };
        match around {
            Some(id) => self.around(view, id, asked.steps.clamp(1, limits::PICTURE_STEPS)),
            None => self.whole(view),
        }
    }

    /// What is looked at when nothing is named: of what somebody has, and of what could be started, that
    /// for which most others wait.
    fn focus(&self, view: &mut View<'_, '_>) -> Result<Option<Id>> {
        let since = self.expiry.stale();
        let held = nodes::in_progress(view.tx, view.ws, self.home.project, since, 50)?;
        let held = held
            .iter()
            .map(|node| (node.id, self.behind.count(node.id)));
        let best = held.max_by_key(|(id, count)| (*count, std::cmp::Reverse(*id)));
        if let Some((id, _)) = best.filter(|(_, count)| *count > 0) {
            return Ok(Some(id));
        }
        if let Some((id, _)) = self.behind.most(1).first() {
            return Ok(Some(*id));
        }
        Ok(best.map(|(id, _)| id))
    }

    /// All that is open, and what was done for it, as far as there is room.
    fn whole(&self, view: &mut View<'_, '_>) -> Result<Picture> {
        let most = limits::PICTURE_TASKS;
        let stale = self.expiry.stale();
        let mut open = nodes::in_progress(view.tx, view.ws, self.home.project, stale, most)?;
        for standing in [Standing::Ready, Standing::Waiting] {
            let which = (standing, stale);
            open.extend(plans::unheld(view.tx, view.ws, self.home, which, most)?);
        }
        open.retain(|node| node.id != self.home.root);
        open.truncate(usize::try_from(most).unwrap_or(0));
        let ids: Vec<Id> = open.iter().map(|node| node.id).collect();
        let links = links::leaving(view.tx, view.ws, DEPENDS_ON, &ids, LINKS)?;
        let mut before: Vec<Id> = links.iter().map(|(_, target)| *target).collect();
        let there: HashSet<Id> = ids.iter().copied().collect();
        before.retain(|id| !there.contains(id) && *id != self.home.root);
        before.sort_unstable();
        before.dedup();
        before.truncate(
            usize::try_from(most)
                .unwrap_or(0)
                .saturating_sub(open.len()),
        );
        let mut done = plans::some(view.tx, view.ws, &before)?;
        open.extend(before.iter().filter_map(|id| done.remove(id)));
        // In the order in which they were made, so that the picture stays as it is when states change.
        open.sort_by_key(|node| node.id);
        self.drawn(view, &open, Picture::default())
    }

    /// The surroundings of one task.
    fn around(&self, view: &mut View<'_, '_>, focus: Id, steps: i64) -> Result<Picture> {
        let found = nodes::get(view.tx, view.ws, focus)?;
        let mut drawn: Vec<Node> = found.into_iter().collect();
        let mut folds = Vec::new();
        for before in [true, false] {
            let mut seen = HashSet::from([focus, self.home.root]);
            seen.extend(drawn.iter().map(|node| node.id));
            let (mut from, mut shown) = (vec![focus], vec![focus]);
            for step in 1..=steps {
                let ring = self.ring(view, before, &from, &shown, &mut seen)?;
                if ring.ids.is_empty() {
                    break;
                }
                let room = usize::try_from(limits::PICTURE_TASKS).unwrap_or(0) - drawn.len();
                let chosen = ring.best(limits::PICTURE_STEP_TASKS.min(room));
                let hidden = ring.ids.len() - chosen.len();
                if hidden > 0 {
                    folds.push(Fold {
                        step: if before { -step } else { step },
                        count: hidden as i64,
                        more: ring.more,
                    });
                }
                shown = chosen.iter().map(|node| node.id).collect();
                drawn.extend(chosen);
                from = ring.goes_on(before);
            }
        }
        let picture = Picture {
            focus: entities::get(view.tx, view.ws, focus)?.map(|entity| entity.handle),
            steps: Some(steps),
            folds,
            ..Picture::default()
        };
        self.drawn(view, &drawn, picture)
    }

    /// What lies one step further, before or after some tasks.
    fn ring(
        &self,
        view: &mut View<'_, '_>,
        before: bool,
        from: &[Id],
        shown: &[Id],
        seen: &mut HashSet<Id>,
    ) -> Result<Ring> {
        let pairs = match before {
            true => self.firsts(view, from)?,
            false => self.thens(view, from)?,
        };
        let more = pairs.len() as i64 >= LINKS;
        let shown: HashSet<Id> = shown.iter().copied().collect();
        let (mut ids, mut beside) = (Vec::new(), HashSet::new());
        for (here, there) in pairs {
            if shown.contains(&here) {
                beside.insert(there);
            }
            if seen.insert(there) {
                ids.push(there);
            }
        }
        // What hangs on something drawn comes first: of it, the line can be drawn, too.
        ids.sort_by_key(|id| (!beside.contains(id), *id));
        let compared = &ids[..ids.len().min(COMPARED)];
        let nodes = plans::some(view.tx, view.ws, compared)?;
        Ok(Ring {
            ids,
            nodes,
            beside,
            more,
        })
    }

    /// What must come before some tasks, as pairs of a task and what comes before it.
    fn firsts(&self, view: &mut View<'_, '_>, from: &[Id]) -> Result<Vec<(Id, Id)>> {
        let mut pairs = links::leaving(view.tx, view.ws, DEPENDS_ON, from, LINKS)?;
        pairs.extend(plans::open_parts(view.tx, view.ws, from, LINKS)?);
        Ok(pairs)
    }

    /// What comes after some tasks, as pairs of a task and what comes after it.
    fn thens(&self, view: &mut View<'_, '_>, from: &[Id]) -> Result<Vec<(Id, Id)>> {
        let pairs = links::reaching(view.tx, view.ws, DEPENDS_ON, from, LINKS)?;
        let mut pairs: Vec<(Id, Id)> = pairs
            .into_iter()
            .map(|(then, first)| (first, then))
            .collect();
        let parents = entities::some(view.tx, view.ws, from)?;
        for id in from {
            pairs.extend(
                parents
                    .get(id)
                    .and_then(|entity| Some((*id, entity.parent?))),
            );
        }
        Ok(pairs)
    }

    /// Tasks and the lines between them.
    fn drawn(&self, view: &mut View<'_, '_>, found: &[Node], picture: Picture) -> Result<Picture> {
        let tasks = self.tasks(view, found)?;
        let ids: Vec<Id> = found.iter().map(|node| node.id).collect();
        let done: HashMap<Id, bool> = found.iter().map(|node| (node.id, node.resolved)).collect();
        let handles = entities::some(view.tx, view.ws, &ids)?;
        let mut pairs = links::leaving(view.tx, view.ws, DEPENDS_ON, &ids, LINKS)?;
        for (id, entity) in &handles {
            pairs.extend(entity.parent.map(|parent| (parent, *id)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let named = |id: &Id| handles.get(id).map(|entity| entity.handle.clone());
        let edges = pairs.iter().filter_map(|(then, first)| {
            Some(Edge {
                satisfied: *done.get(first)?,
                first: named(first)?,
                then: named(then)?,
            })
        });
        Ok(Picture {
            edges: edges.collect(),
            tasks,
            ..picture
        })
    }
}

/// The tasks of one step.
struct Ring {
    ids: Vec<Id>,
    nodes: HashMap<Id, Node>,
    /// Those that hang on something drawn.
    beside: HashSet<Id>,
    more: bool,
}

impl Ring {
    /// Those that are drawn: what is open before what is done, by rank.
    fn best(&self, most: usize) -> Vec<Node> {
        let mut found: Vec<&Node> = self.nodes.values().collect();
        found.retain(|node| self.beside.contains(&node.id));
        found.sort_by(|a, b| {
            let key = |node: &Node| (node.resolved, node.standing as i64, node.id);
            key(a).cmp(&key(b))
        });
        let rank = |node: &Node| -node.priority;
        found.sort_by(|a, b| {
            let open = (a.resolved, b.resolved);
            open.0.cmp(&open.1).then(rank(a).total_cmp(&rank(b)))
        });
        found.into_iter().take(most).cloned().collect()
    }

    /// Those from which the next step goes on: what lies before something done is over.
    fn goes_on(&self, before: bool) -> Vec<Id> {
        let is_over = |id: &Id| before && self.nodes.get(id).is_some_and(|node| node.resolved);
        let open = self.ids.iter().filter(|id| !is_over(id));
        open.take(GOES_ON).copied().collect()
    }
}
