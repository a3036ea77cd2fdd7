//! A model of branched documents that is too simple to be wrong: making a branch copies everything.
//!
//! It knows no log and no cutoffs. Each version and each note has a tick, which only says what came
//! before what. It must never be written after how the product does it.

pub mod stage;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// The graph documents that programs write to.
pub const DOCS: [&str; 2] = ["graph", "other"];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Node(String),
    Edge(String, String, String),
}

impl Key {
    /// As conflicts and changes name it.
    pub fn shown(&self) -> Value {
        match self {
            Key::Node(id) => json!(id),
            Key::Edge(from, rel, to) => json!({"from": from, "rel": rel, "to": to}),
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Key::Node(_) => "node",
            Key::Edge(..) => "edge",
        }
    }

    fn touches(&self, id: &str) -> bool {
        matches!(self, Key::Edge(from, _, to) if from == id || to == id)
    }
}

/// A state of a node or an edge, as it is shown but for where it stands in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    pub tick: u64,
    pub state: Value,
    pub deleted: bool,
}

pub type Graph = BTreeMap<Key, Version>;

/// Whether two states mean the same: what was deleted is as good as never made.
fn same(a: Option<&Version>, b: Option<&Version>) -> bool {
    let there = |version: Option<&Version>| {
        let version = version.filter(|version| !version.deleted);
        version.map(|version| version.state.clone())
    };
    there(a) == there(b)
}

#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    pub tick: u64,
    /// The tick of the note that it is a copy of, or its own.
    pub origin: u64,
    pub branch: usize,
    pub text: String,
    /// The branch that was merged, and the tick of the note there.
    pub source: Option<(usize, u64)>,
}

#[derive(Debug, Clone, Default)]
pub struct Branch {
    pub base: Option<usize>,
    /// What the base showed when this branch was made.
    pub then: [Graph; 2],
    pub now: [Graph; 2],
    /// The keys that were written on this branch itself.
    pub own: [BTreeSet<Key>; 2],
    /// What last went from here into the base.
    pub given: [Graph; 2],
    pub notes: Vec<Note>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    pub from: usize,
    pub into: usize,
    pub doc: usize,
    pub key: Key,
    pub base: Option<Version>,
    pub ours: Option<Version>,
    pub theirs: Version,
    /// How it ended; `None` while it is open.
    pub settled: Option<&'static str>,
}

/// What is done to a graph document.
#[derive(Debug, Clone)]
pub enum Op {
    Put(Key, Value),
    Drop(Key),
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Applied {
    pub nodes: u64,
    pub nodes_gone: u64,
    pub edges: u64,
    pub edges_gone: u64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Merged {
    pub merged: u64,
    pub skipped: u64,
    /// The places of the new conflicts, in the order in which they are told.
    pub conflicts: Vec<usize>,
}

#[derive(Debug, Clone)]
pub struct Model {
    pub branches: Vec<Branch>,
    pub conflicts: Vec<Conflict>,
    tick: u64,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            branches: vec![Branch::default()],
            conflicts: Vec::new(),
            tick: 0,
        }
    }
}

impl Model {
    /// The name of a branch in the world.
    pub fn name(at: usize) -> String {
        match at {
            0 => "main".into(),
            _ => format!("b{at}"),
        }
    }

    pub fn pick(&self, at: usize) -> usize {
        at % self.branches.len()
    }

    fn next(&mut self) -> u64 {
        self.tick += 1;
        self.tick
    }

    fn put(&mut self, (branch, doc): (usize, usize), key: &Key, state: Value, deleted: bool) {
        let tick = self.next();
        let branch = &mut self.branches[branch];
        branch.own[doc].insert(key.clone());
        let version = Version {
            tick,
            state,
            deleted,
        };
        branch.now[doc].insert(key.clone(), version);
    }

    pub fn fork(&mut self, base: usize) -> usize {
        let from = &self.branches[base];
        let branch = Branch {
            base: Some(base),
            then: from.now.clone(),
            now: from.now.clone(),
            notes: from.notes.clone(),
            ..Branch::default()
        };
        self.branches.push(branch);
        self.branches.len() - 1
    }

    /// All or none; the place of the operation that cannot be done.
    pub fn apply(&mut self, branch: usize, doc: usize, ops: &[Op]) -> Result<Applied, usize> {
        let before = self.clone();
        let (place, mut done) = ((branch, doc), Applied::default());
        for (at, op) in ops.iter().enumerate() {
            match op {
                Op::Put(key, state) => {
                    self.put(place, key, state.clone(), false);
                    match key {
                        Key::Node(_) => done.nodes += 1,
                        Key::Edge(..) => done.edges += 1,
                    }
                }
                Op::Drop(key) => {
                    let living = self.living(branch, doc);
                    let Some(there) = living.get(key) else {
                        *self = before;
                        return Err(at);
                    };
                    self.put(place, key, there.state.clone(), true);
                    let Key::Node(id) = key else {
                        done.edges_gone += 1;
                        continue;
                    };
                    done.nodes_gone += 1;
                    for (edge, version) in living.iter().filter(|(key, _)| key.touches(id)) {
                        self.put(place, edge, version.state.clone(), true);
                        done.edges_gone += 1;
                    }
                }
            }
        }
        Ok(done)
    }

    /// What is there and not deleted.
    pub fn living(&self, branch: usize, doc: usize) -> Graph {
        let mut living = self.branches[branch].now[doc].clone();
        living.retain(|_, version| !version.deleted);
        living
    }

    /// The keys of one document that were written on a branch itself, newest first.
    fn changed(&self, branch: usize, doc: usize) -> Vec<Key> {
        let branch = &self.branches[branch];
        let mut keys: Vec<Key> = branch.own[doc].iter().cloned().collect();
        keys.sort_by_key(|key| std::cmp::Reverse(branch.now[doc][key].tick));
        keys
    }

    /// Merges a branch back into its base.
    pub fn merge(&mut self, from: usize, doc: usize) -> Merged {
        let into = self.branches[from].base.expect("a base");
        let mut done = Merged::default();
        for key in self.changed(from, doc) {
            let branch = &self.branches[from];
            let theirs = branch.now[doc][&key].clone();
            // What both had in common last: what was given before, else the snapshot.
            let given = branch.given[doc].get(&key);
            let base = given.or_else(|| branch.then[doc].get(&key)).cloned();
            let ours = self.branches[into].now[doc].get(&key).cloned();
            let about = |one: &&mut Conflict| {
                (one.from, one.into, one.doc) == (from, into, doc) && one.key == key
            };
            let known: Vec<&mut Conflict> = self.conflicts.iter_mut().filter(about).collect();
            if known.iter().any(|one| one.theirs.tick == theirs.tick) {
                // Both sides may have come to the same by themselves.
                if same(ours.as_ref(), Some(&theirs)) {
                    for one in known.into_iter().filter(|one| one.settled.is_none()) {
                        one.settled = Some("agreed");
                    }
                }
                done.skipped += 1;
                continue;
            }
            // What the branch has left behind need not be decided any more.
            for one in known.into_iter().filter(|one| one.settled.is_none()) {
                one.settled = Some("superseded");
            }
            let news = !same(base.as_ref(), Some(&theirs)) && !same(ours.as_ref(), Some(&theirs));
            if !news {
                done.skipped += 1;
            } else if same(base.as_ref(), ours.as_ref()) {
                self.put((into, doc), &key, theirs.state.clone(), theirs.deleted);
                self.branches[from].given[doc].insert(key, theirs);
                done.merged += 1;
            } else {
                done.conflicts.push(self.conflicts.len());
                self.conflicts.push(Conflict {
                    from,
                    into,
                    doc,
                    key,
                    base,
                    ours,
                    theirs,
                    settled: None,
                });
            }
        }
        done
    }

    /// Settles a conflict: whether something was written, or `None` where it is too late.
    pub fn resolve(&mut self, at: usize, how: &'static str) -> Option<bool> {
        let conflict = self.conflicts[at].clone();
        if let Some(settled) = conflict.settled {
            return (settled == how).then_some(false);
        }
        let applied = how == "use_from";
        if applied {
            let (place, theirs) = ((conflict.into, conflict.doc), conflict.theirs);
            self.put(place, &conflict.key, theirs.state.clone(), theirs.deleted);
            self.branches[conflict.from].given[conflict.doc].insert(conflict.key, theirs);
        }
        self.conflicts[at].settled = Some(how);
        Some(applied)
    }

    pub fn note(&mut self, branch: usize) -> Note {
        let tick = self.next();
        let note = Note {
            tick,
            origin: tick,
            branch,
            text: format!("note {tick}"),
            source: None,
        };
        self.branches[branch].notes.push(note.clone());
        note
    }

    /// Merges notes: how many came, how many were looked at and left.
    pub fn merge_notes(&mut self, from: usize, into: usize) -> (u64, u64) {
        let (mut merged, mut skipped) = (0, 0);
        for note in self.notes_between(into, from) {
            let there = &self.branches[into].notes;
            if there.iter().any(|known| known.origin == note.origin) {
                skipped += 1;
                continue;
            }
            let copy = Note {
                tick: self.next(),
                branch: into,
                source: Some((from, note.tick)),
                ..note
            };
            self.branches[into].notes.push(copy);
            merged += 1;
        }
        (merged, skipped)
    }

    /// As [`Model::notes_between`], without those that `from` has as copies, or copies of them.
    pub fn new_notes(&self, from: usize, to: usize) -> Vec<Note> {
        let known: BTreeSet<u64> = self.branches[from].notes.iter().map(|n| n.origin).collect();
        let mut new = self.notes_between(from, to);
        new.retain(|note| !known.contains(&note.origin));
        new
    }

    /// The notes that `to` shows and `from` does not, oldest first.
    pub fn notes_between(&self, from: usize, to: usize) -> Vec<Note> {
        let known: BTreeSet<u64> = self.branches[from].notes.iter().map(|n| n.tick).collect();
        let all = self.branches[to].notes.iter();
        all.filter(|note| !known.contains(&note.tick))
            .cloned()
            .collect()
    }

    /// The states of `to` that differ from those of `from`, newest first.
    pub fn diff(&self, from: usize, to: usize, doc: usize) -> Vec<(Key, Version)> {
        let here = &self.branches[from].now[doc];
        let there = self.branches[to].now[doc].iter();
        newest_first(there.filter(|(key, version)| !same(here.get(key), Some(version))))
    }

    /// The nodes of a document and the edges between them, newest first.
    #[allow(clippy::type_complexity)]
    pub fn view(
        &self,
        branch: usize,
        doc: usize,
        deleted: bool,
    ) -> (Vec<(Key, Version)>, Vec<(Key, Version)>) {
        let all = match deleted {
            true => self.branches[branch].now[doc].clone(),
            false => self.living(branch, doc),
        };
        let has = |id: &String| all.contains_key(&Key::Node(id.clone()));
        let nodes = all.iter().filter(|(key, _)| key.kind() == "node");
        let edges = all
            .iter()
            .filter(|(key, _)| matches!(key, Key::Edge(from, _, to) if has(from) && has(to)));
        (newest_first(nodes), newest_first(edges))
    }

    /// The ends of edges that are not there: the edge, and the id that is missing.
    pub fn dangling(&self, branch: usize, doc: usize) -> BTreeSet<(Key, String)> {
        let all = self.living(branch, doc);
        let mut missing = BTreeSet::new();
        for key in all.keys() {
            let Key::Edge(from, _, to) = key else {
                continue;
            };
            for id in [from, to] {
                if !all.contains_key(&Key::Node(id.clone())) {
                    missing.insert((key.clone(), id.clone()));
                }
            }
        }
        missing
    }
}

fn newest_first<'a>(all: impl Iterator<Item = (&'a Key, &'a Version)>) -> Vec<(Key, Version)> {
    let mut all: Vec<(Key, Version)> = all
        .map(|(key, version)| (key.clone(), version.clone()))
        .collect();
    all.sort_by_key(|(_, version)| std::cmp::Reverse(version.tick));
    all
}
