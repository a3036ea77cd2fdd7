//! The write cache: the rows of core that a write touches, written once at its end.
//!
//! A batch of five hundred nodes under one parent changes that parent five hundred times; here it
//! is one row. Entities of all surfaces are cached, and the tables of graph, records, projects and
//! sessions; the other tables are written at once. Queries that read tables directly call
//! [`Core::flush`] first.

mod row;
pub mod seen;
mod table;

use std::collections::{BTreeMap, HashMap};

use seen::Seen;
use serde_json::{Map, Value};
use table::Table;
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::{Id, Ws};
use understory_storage::activity::{self, Activity};
use understory_storage::entities::{self, Entity};
use understory_storage::keys::{self, Pair};
use understory_storage::nodes::{self, Node, Standing};
use understory_storage::projects::Project;
use understory_storage::records::{self, Record};
use understory_storage::sessions::Session;
use understory_storage::texts::{self, TextChange};
use understory_storage::vertices::{self, Vertex};
use understory_storage::{Tx, links, workspaces};

use crate::kernel::texts::Texts;

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

/// The most entities that one write hands over to the next.
const CARRIED: usize = 1_000;

/// The working set of one write.
pub struct Core {
    pub ws: Ws,
    things: Table<Thing>,
    handles: HashMap<String, Id>,
    nodes: Table<Node>,
    projects: Table<Project>,
    records: Table<Record>,
    sessions: Table<Session>,
    counters: BTreeMap<&'static str, (i64, bool)>,
    new_links: Vec<(Id, String, Id)>,
    new_keys: Vec<(Pair, Id)>,
    new_activity: Vec<Activity>,
    new_vertices: Vec<Vertex>,
    pub texts: Texts,
    /// What a timeline counts and shows of this write.
    pub seen: Seen,
    /// Whether each node that changed was waiting when the write began.
    waited: BTreeMap<Id, bool>,
}

impl Core {
    pub fn new(ws: Ws) -> Core {
        Core {
            ws,
            things: Table::new(ws),
            handles: HashMap::new(),
            nodes: Table::new(ws),
            projects: Table::new(ws),
            records: Table::new(ws),
            sessions: Table::new(ws),
            counters: BTreeMap::new(),
            new_links: Vec::new(),
            new_keys: Vec::new(),
            new_activity: Vec::new(),
            new_vertices: Vec::new(),
            texts: Texts::default(),
            seen: Seen::default(),
            waited: BTreeMap::new(),
        }
    }

    /// As a later write of the same transaction may begin with it: everything held is as it stands
    /// in the tables. `None` when that is too much to carry on.
    pub fn settled(mut self) -> Option<Core> {
        self.waited.clear();
        (self.things.len() < CARRIED).then_some(self)
    }

    /// An entity by id; `None` when there is none, gone or not.
    pub fn thing(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<Option<&mut Thing>> {
        self.things.get(tx, id)
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
        // A cached row is newer than the one in the table.
        if !self.things.has(id) {
            self.things.cache(Thing::open(entity)?);
        }
        Ok(Some(id))
    }

    /// The id behind a handle, where this write or the one before it in its batch touched it.
    pub fn held_handle(&self, handle: &str) -> Option<Id> {
        self.handles.get(handle).copied()
    }

    pub fn add_thing(&mut self, thing: Thing) {
        self.handles
            .insert(thing.entity.handle.clone(), thing.entity.id);
        self.things.add(thing);
    }

    pub fn changed_thing(&mut self, id: Id) {
        self.things.changed(id);
    }

    pub fn node(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<Option<&Node>> {
        Ok(self.nodes.get(tx, id)?.map(|node| &*node))
    }

    /// Adds a node; the counts of its project follow.
    pub fn add_node(&mut self, tx: &mut Tx<'_>, mut node: Node) -> Result<()> {
        node.standing = standing(&node);
        self.count(tx, &node, 1)?;
        self.nodes.add(node);
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
            return Err(Table::<Node>::missing(id));
        };
        let mut after = before.clone();
        change(&mut after);
        after.standing = standing(&after);
        if after == before {
            return Ok(());
        }
        self.waited
            .entry(id)
            .or_insert(before.standing != Standing::Ready);
        self.count(tx, &before, -1)?;
        self.count(tx, &after, 1)?;
        self.nodes.replace(after);
        Ok(())
    }

    /// Takes a node out of every view.
    pub fn drop_node(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<()> {
        if let Some(node) = self.node(tx, id)?.cloned() {
            self.count(tx, &node, -1)?;
            self.nodes.delete(id);
        }
        Ok(())
    }

    fn count(&mut self, tx: &mut Tx<'_>, node: &Node, by: i64) -> Result<()> {
        let (resolved, blocked) = (node.resolved, !node.resolved && node.open_deps > 0);
        let (ready, id) = (node.standing == Standing::Ready, node.project);
        self.touch_project(tx, id, |project| {
            project.total += by;
            project.resolved += by * i64::from(resolved);
            project.blocked += by * i64::from(blocked);
            project.actionable += by * i64::from(ready);
        })
    }

    pub fn add_project(&mut self, project: Project) {
        self.projects.add(project);
    }

    pub fn project(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<Option<&Project>> {
        Ok(self.projects.get(tx, id)?.map(|project| &*project))
    }

    pub fn touch_project(
        &mut self,
        tx: &mut Tx<'_>,
        id: Id,
        change: impl FnOnce(&mut Project),
    ) -> Result<()> {
        self.projects.touch(tx, id, change)
    }

    pub fn add_record(&mut self, record: Record) {
        self.records.add(record);
    }

    pub fn record(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<Option<&Record>> {
        Ok(self.records.get(tx, id)?.map(|record| &*record))
    }

    pub fn touch_record(
        &mut self,
        tx: &mut Tx<'_>,
        id: Id,
        change: impl FnOnce(&mut Record),
    ) -> Result<()> {
        self.records.touch(tx, id, change)
    }

    pub fn add_session(&mut self, session: Session) {
        self.sessions.add(session);
    }

    pub fn session(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<Option<&Session>> {
        Ok(self.sessions.get(tx, id)?.map(|session| &*session))
    }

    pub fn touch_session(
        &mut self,
        tx: &mut Tx<'_>,
        id: Id,
        change: impl FnOnce(&mut Session),
    ) -> Result<()> {
        self.sessions.touch(tx, id, change)
    }

    pub fn add_activity(&mut self, activity: Activity) {
        self.new_activity.push(activity);
    }

    pub fn add_vertex(&mut self, vertex: Vertex) {
        self.new_vertices.push(vertex);
    }

    /// The number that the next handle of a kind has.
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
        for kind in HandleKind::ALL {
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

    /// What lies directly below an entity, what this write put there included.
    pub fn children(&mut self, tx: &mut Tx<'_>, parent: Id) -> Result<Vec<Id>> {
        self.things.flush(tx)?;
        tx.send()?;
        entities::child_ids(tx, self.ws, parent)
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

    /// Gives everything below a record its new place.
    pub fn move_records_below(
        &mut self,
        tx: &mut Tx<'_>,
        project: Id,
        paths: (&str, &str),
        deeper: i64,
    ) -> Result<()> {
        self.flush(tx)?;
        records::move_below(tx, self.ws, project, paths, deeper)?;
        self.records.clear();
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
            if self
                .node(tx, id)?
                .is_some_and(|node| node.standing == Standing::Ready)
            {
                now.push(id);
            }
        }
        Ok(now)
    }

    /// Writes every row that changed; texts wait for the end.
    pub fn flush(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let ws = self.ws;
        self.things.flush(tx)?;
        self.nodes.flush(tx)?;
        self.projects.flush(tx)?;
        self.records.flush(tx)?;
        self.sessions.flush(tx)?;
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
        activity::add(tx, ws, &std::mem::take(&mut self.new_activity))?;
        self.flush_vertices(tx)?;
        self.seen.flush(tx, ws)?;
        // Each row was written once; the next change of one of them must come after it.
        tx.send()
    }

    /// Writes the versions that are held.
    pub fn flush_vertices(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        vertices::add(tx, self.ws, &std::mem::take(&mut self.new_vertices))
    }

    /// Writes every row that changed, and the texts.
    pub fn finish(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        self.flush(tx)?;
        let changes: Vec<TextChange> = self.texts.take().collect();
        texts::apply(tx, &changes)
    }
}

/// The one rule of readiness: open, nothing open below, nothing open that it depends on.
fn standing(node: &Node) -> Standing {
    if node.resolved {
        Standing::Resolved
    } else if node.open_children > 0 || node.open_deps > 0 {
        Standing::Waiting
    } else {
        Standing::Ready
    }
}
