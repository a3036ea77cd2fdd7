//! The rows of core that a write touches, held while it runs and written once at its end.
//!
//! A batch of five hundred nodes under one parent changes that parent five hundred times; here it
//! is one row. Queries that read tables directly call [`Core::flush`] first.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::{Id, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::keys::{self, Pair};
use understory_storage::nodes::{self, Node, Project};
use understory_storage::texts::{self, TextChange};
use understory_storage::{Tx, links, workspaces};

use crate::texts::Texts;

/// What has to happen to a row when it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    Insert,
    Update,
    Delete,
}

struct Slot<T> {
    row: T,
    fate: Fate,
}

/// An entity with its value opened.
#[derive(Debug, Clone)]
pub struct Thing {
    pub entity: Entity,
    pub data: Map<String, Value>,
}

impl Thing {
    pub fn open(mut entity: Entity) -> Result<Thing> {
        let data = serde_json::from_str(&std::mem::take(&mut entity.data)).map_err(|_| {
            Fault::new(
                Code::StoreCorrupt,
                format!("the value of {} is damaged", entity.handle),
            )
            .hint("Run `understory verify`, then `understory rebuild`.")
        })?;
        Ok(Thing { entity, data })
    }
}

/// The working set of one write.
pub struct Core {
    pub ws: Ws,
    things: HashMap<Id, Slot<Thing>>,
    handles: HashMap<String, Id>,
    nodes: HashMap<Id, Slot<Node>>,
    projects: HashMap<Id, Slot<Project>>,
    counters: BTreeMap<&'static str, (i64, bool)>,
    new_links: Vec<(Id, String, Id)>,
    new_keys: Vec<(Pair, Id)>,
    pub texts: Texts,
    /// Whether each node that changed was waiting when the write began.
    waited: BTreeMap<Id, bool>,
}

impl Core {
    pub fn new(ws: Ws) -> Core {
        Core {
            ws,
            things: HashMap::new(),
            handles: HashMap::new(),
            nodes: HashMap::new(),
            projects: HashMap::new(),
            counters: BTreeMap::new(),
            new_links: Vec::new(),
            new_keys: Vec::new(),
            texts: Texts::default(),
            waited: BTreeMap::new(),
        }
    }

    /// An entity by id; `None` when there is none, gone or not.
    pub fn thing(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<Option<&mut Thing>> {
        if !self.things.contains_key(&id) {
            let Some(entity) = entities::get(tx, self.ws, id)? else {
                return Ok(None);
            };
            let row = Thing::open(entity)?;
            self.things.insert(
                id,
                Slot {
                    row,
                    fate: Fate::Keep,
                },
            );
        }
        Ok(self.things.get_mut(&id).map(|slot| &mut slot.row))
    }

    /// The id behind a handle.
    pub fn by_handle(&mut self, tx: &mut Tx<'_>, handle: &str) -> Result<Option<Id>> {
        if let Some(id) = self.handles.get(handle) {
            return Ok(Some(*id));
        }
        let Some(entity) = entities::by_handle(tx, self.ws, handle)? else {
            return Ok(None);
        };
        let id = entity.id;
        self.handles.insert(handle.to_string(), id);
        // What this write already holds of it is newer than its row.
        if let Entry::Vacant(free) = self.things.entry(id) {
            free.insert(Slot {
                row: Thing::open(entity)?,
                fate: Fate::Keep,
            });
        }
        Ok(Some(id))
    }

    pub fn add_thing(&mut self, thing: Thing) {
        self.handles
            .insert(thing.entity.handle.clone(), thing.entity.id);
        self.things.insert(
            thing.entity.id,
            Slot {
                row: thing,
                fate: Fate::Insert,
            },
        );
    }

    pub fn changed_thing(&mut self, id: Id) {
        if let Some(slot) = self.things.get_mut(&id)
            && slot.fate == Fate::Keep
        {
            slot.fate = Fate::Update;
        }
    }

    pub fn node(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<Option<&Node>> {
        if !self.nodes.contains_key(&id) {
            let Some(row) = nodes::get(tx, self.ws, id)? else {
                return Ok(None);
            };
            self.nodes.insert(
                id,
                Slot {
                    row,
                    fate: Fate::Keep,
                },
            );
        }
        Ok(self
            .nodes
            .get(&id)
            .filter(|slot| slot.fate != Fate::Delete)
            .map(|slot| &slot.row))
    }

    /// Adds a node; the counts of its project follow.
    pub fn add_node(&mut self, tx: &mut Tx<'_>, mut node: Node) -> Result<()> {
        node.waiting = waits(&node);
        self.count(tx, &node, 1)?;
        self.nodes.insert(
            node.id,
            Slot {
                row: node,
                fate: Fate::Insert,
            },
        );
        Ok(())
    }

    /// Changes a node; its readiness and the counts of its project follow.
    pub fn touch_node(
        &mut self,
        tx: &mut Tx<'_>,
        id: Id,
        change: impl FnOnce(&mut Node),
    ) -> Result<()> {
        let Some(before) = self.node(tx, id)?.cloned() else {
            return Err(
                Fault::new(Code::StoreCorrupt, format!("node {id} is not in core"))
                    .hint("Run `understory rebuild`."),
            );
        };
        let mut after = before.clone();
        change(&mut after);
        after.waiting = waits(&after);
        if after == before {
            return Ok(());
        }
        self.waited.entry(id).or_insert(before.waiting);
        self.count(tx, &before, -1)?;
        self.count(tx, &after, 1)?;
        if let Some(slot) = self.nodes.get_mut(&id) {
            slot.row = after;
            if slot.fate == Fate::Keep {
                slot.fate = Fate::Update;
            }
        }
        Ok(())
    }

    /// Takes a node out of every view.
    pub fn drop_node(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<()> {
        if let Some(node) = self.node(tx, id)?.cloned() {
            self.count(tx, &node, -1)?;
            if let Some(slot) = self.nodes.get_mut(&id) {
                slot.fate = Fate::Delete;
            }
        }
        Ok(())
    }

    fn count(&mut self, tx: &mut Tx<'_>, node: &Node, by: i64) -> Result<()> {
        let (resolved, blocked) = (node.resolved, !node.resolved && node.open_deps > 0);
        let (waiting, id) = (node.waiting, node.project);
        self.touch_project(tx, id, |project| {
            project.total += by;
            project.resolved += by * i64::from(resolved);
            project.blocked += by * i64::from(blocked);
            project.actionable += by * i64::from(!waiting);
        })
    }

    pub fn add_project(&mut self, project: Project) {
        self.projects.insert(
            project.id,
            Slot {
                row: project,
                fate: Fate::Insert,
            },
        );
    }

    pub fn project(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<Option<&Project>> {
        if !self.projects.contains_key(&id) {
            let Some(row) = nodes::project(tx, self.ws, id)? else {
                return Ok(None);
            };
            self.projects.insert(
                id,
                Slot {
                    row,
                    fate: Fate::Keep,
                },
            );
        }
        Ok(self.projects.get(&id).map(|slot| &slot.row))
    }

    pub fn touch_project(
        &mut self,
        tx: &mut Tx<'_>,
        id: Id,
        change: impl FnOnce(&mut Project),
    ) -> Result<()> {
        if self.project(tx, id)?.is_none() {
            return Err(
                Fault::new(Code::StoreCorrupt, format!("project {id} is not in core"))
                    .hint("Run `understory rebuild`."),
            );
        }
        if let Some(slot) = self.projects.get_mut(&id) {
            change(&mut slot.row);
            if slot.fate == Fate::Keep {
                slot.fate = Fate::Update;
            }
        }
        Ok(())
    }

    /// The number that the next handle of a kind bears.
    pub fn next_number(&mut self, tx: &mut Tx<'_>, kind: HandleKind) -> Result<i64> {
        Ok(self.counter(tx, kind.prefix())? + 1)
    }

    fn counter(&mut self, tx: &mut Tx<'_>, name: &'static str) -> Result<i64> {
        if let Some((last, _)) = self.counters.get(name) {
            return Ok(*last);
        }
        let last = workspaces::counter(tx, self.ws, name)?;
        self.counters.insert(name, (last, false));
        Ok(last)
    }

    /// Remembers that a handle was given out.
    pub fn took_handle(&mut self, tx: &mut Tx<'_>, handle: &str) -> Result<()> {
        for kind in [HandleKind::Plan, HandleKind::Task] {
            let name = kind.prefix();
            if let Some(number) = handle
                .strip_prefix(name)
                .and_then(|n| n.parse::<i64>().ok())
                && number > self.counter(tx, name)?
            {
                self.counters.insert(name, (number, true));
            }
        }
        Ok(())
    }

    pub fn add_link(&mut self, source: Id, relation: &str, target: Id) {
        self.new_links.push((source, relation.to_string(), target));
    }

    pub fn remove_link(
        &mut self,
        tx: &mut Tx<'_>,
        source: Id,
        relation: &str,
        target: Id,
    ) -> Result<()> {
        self.flush_links(tx)?;
        links::remove(tx, self.ws, source, relation, target)
    }

    /// Where the links of a relation come from, those of this write included.
    pub fn sources(&mut self, tx: &mut Tx<'_>, target: Id, relation: &str) -> Result<Vec<Id>> {
        self.flush_links(tx)?;
        links::sources(tx, self.ws, target, relation)
    }

    pub fn targets(&mut self, tx: &mut Tx<'_>, source: Id, relation: &str) -> Result<Vec<Id>> {
        self.flush_links(tx)?;
        links::targets(tx, self.ws, source, relation)
    }

    pub fn has_link(
        &mut self,
        tx: &mut Tx<'_>,
        source: Id,
        relation: &str,
        target: Id,
    ) -> Result<bool> {
        self.flush_links(tx)?;
        links::exists(tx, self.ws, source, relation, target)
    }

    fn flush_links(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        if !self.new_links.is_empty() {
            links::add(tx, self.ws, &std::mem::take(&mut self.new_links))?;
        }
        Ok(())
    }

    pub fn add_keys(&mut self, id: Id, pairs: impl IntoIterator<Item = Pair>) {
        self.new_keys
            .extend(pairs.into_iter().map(|pair| (pair, id)));
    }

    pub fn remove_key(&mut self, tx: &mut Tx<'_>, id: Id, pair: &Pair) -> Result<()> {
        match self
            .new_keys
            .iter()
            .position(|(there, of)| *of == id && there == pair)
        {
            Some(at) => {
                self.new_keys.swap_remove(at);
                Ok(())
            }
            None => keys::remove(tx, self.ws, pair, id),
        }
    }

    /// Gives everything below a node its new place.
    pub fn move_below(&mut self, tx: &mut Tx<'_>, from: &str, to: &str, deeper: i64) -> Result<()> {
        self.flush(tx)?;
        nodes::move_below(tx, self.ws, from, to, deeper)?;
        // What is held of the subtree is old now.
        self.nodes.clear();
        Ok(())
    }

    /// Nodes that waited when the write began and can be worked on now.
    pub fn newly_actionable(&mut self, tx: &mut Tx<'_>) -> Result<Vec<Id>> {
        let waited: Vec<Id> = self
            .waited
            .iter()
            .filter(|(_, waited)| **waited)
            .map(|(id, _)| *id)
            .collect();
        let mut now = Vec::new();
        for id in waited {
            if self.node(tx, id)?.is_some_and(|node| !node.waiting) {
                now.push(id);
            }
        }
        Ok(now)
    }

    /// Writes every row that changed; texts wait for the end.
    pub fn flush(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let ws = self.ws;
        self.flush_things(tx)?;
        self.flush_nodes(tx)?;
        for slot in self
            .projects
            .values_mut()
            .filter(|slot| slot.fate != Fate::Keep)
        {
            nodes::put_project(tx, ws, &slot.row)?;
            slot.fate = Fate::Keep;
        }
        for (name, (last, changed)) in &mut self.counters {
            if std::mem::take(changed) {
                workspaces::put_counter(tx, ws, name, *last)?;
            }
        }
        self.flush_links(tx)?;
        let mut pairs: Vec<(&Pair, Id)> = self.new_keys.iter().map(|(p, id)| (p, *id)).collect();
        pairs.sort();
        keys::add(tx, ws, &pairs)?;
        self.new_keys.clear();
        Ok(())
    }

    /// Writes every row that changed, and the texts.
    pub fn finish(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        self.flush(tx)?;
        let changes: Vec<TextChange> = self.texts.take().collect();
        texts::apply(tx, &changes)
    }

    fn flush_things(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let mut ids: Vec<Id> = self.things.keys().copied().collect();
        ids.sort_unstable();
        let mut new = Vec::new();
        for id in ids {
            let Some(slot) = self.things.get_mut(&id) else {
                continue;
            };
            if slot.fate == Fate::Keep {
                continue;
            }
            let mut entity = slot.row.entity.clone();
            entity.data = serde_json::to_string(&slot.row.data)
                .map_err(|_| Fault::new(Code::Internal, "a value could not be written as JSON"))?;
            match slot.fate {
                Fate::Insert => new.push(entity),
                _ => entities::update(tx, self.ws, &entity)?,
            }
            slot.fate = Fate::Keep;
        }
        entities::insert(tx, self.ws, &new.iter().collect::<Vec<_>>())
    }

    fn flush_nodes(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let mut new: Vec<&Node> = Vec::new();
        let mut gone = Vec::new();
        for (id, slot) in &mut self.nodes {
            match std::mem::replace(&mut slot.fate, Fate::Keep) {
                Fate::Keep => {}
                Fate::Insert => new.push(&slot.row),
                Fate::Update => nodes::update(tx, self.ws, &slot.row)?,
                Fate::Delete => {
                    nodes::delete(tx, self.ws, *id)?;
                    gone.push(*id);
                }
            }
        }
        new.sort_unstable_by_key(|node| node.id);
        nodes::insert(tx, self.ws, &new)?;
        for id in gone {
            self.nodes.remove(&id);
        }
        Ok(())
    }
}

/// The one rule of readiness: open, nothing open below, nothing open that it depends on.
fn waits(node: &Node) -> bool {
    node.resolved || node.open_children > 0 || node.open_deps > 0
}
