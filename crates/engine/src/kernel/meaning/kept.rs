//! The vectors of each workspace, kept in memory and brought up to date before each search.
//!
//! A search has to look at every vector, and a database hands them over far more slowly than they
//! can be compared. The log says what changed since, whichever process wrote it: the copy is never
//! asked whether it is current, it is made so. It holds nothing that core does not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use understory_meaning::foreign::{Usual, cosine, length};
use understory_meaning::{BYTES, Query};
use understory_model::error::Result;
use understory_model::{Id, Seq, Ws};
use understory_storage::embeddings::{self, Progress};
use understory_storage::{ReadTx, purge, vectors, workspaces};

use crate::kernel::meaning::external::Meant;
use crate::kernel::search::sort;

/// Copies that are kept; the one that was asked least recently goes first.
const COPIES: usize = 16;

/// A workspace and the external model whose vectors a copy holds; none for our own.
type Key = (Ws, Option<String>);

/// The vectors of some workspaces.
#[derive(Default)]
pub struct Kept {
    copies: Mutex<Vec<(Key, Arc<RwLock<Copy>>)>>,
}

/// A thing that points where a question does, by its closest passage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    pub id: Id,
    /// The number of the passage.
    pub part: usize,
    pub closeness: f32,
}

/// One workspace's vectors by one model, as of one place in its log.
struct Copy {
    upto: Seq,
    /// Of an external model: what was put last.
    filled: i64,
    /// Numbers of a vector.
    dims: usize,
    /// All of them, one after the other.
    vectors: Vec<i8>,
    /// Owner of each vector; id 0 = deleted.
    owners: Vec<Owner>,
    places: HashMap<Id, (usize, usize)>,
    kinds: Vec<String>,
    deleted: usize,
    /// Of an external model: vectors of unrelated texts, which tell what closeness is usual.
    baseline: Vec<i8>,
}

#[derive(Default, Clone)]
struct Owner {
    id: Id,
    part: u32,
    kind: u8,
    /// How long a vector of an external model is; ours have one length.
    length: f32,
}

impl Kept {
    fn of(&self, ws: Ws, model: Option<&str>) -> Arc<RwLock<Copy>> {
        let mut all = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all
            .iter()
            .position(|((of, by), _)| *of == ws && by.as_deref() == model);
        let found = match found {
            Some(at) => all.remove(at),
            None => {
                let dims = if model.is_none() { BYTES } else { 0 };
                let copy = Arc::new(RwLock::new(Copy::new(dims)));
                ((ws, model.map(str::to_string)), copy)
            }
        };
        let copy = Arc::clone(&found.1);
        all.insert(0, found);
        all.truncate(COPIES);
        copy
    }

    /// What points where the question does, best first: of the kinds that are wanted, each once.
    pub fn near(
        &self,
        tx: &mut ReadTx<'_>,
        ws: Ws,
        query: &Query,
        wanted: impl Fn(&str) -> bool,
        most: usize,
    ) -> Result<Vec<Near>> {
        let copy = self.of(ws, None);
        let head = workspaces::head(tx, ws, false)?.map_or(Seq::ZERO, |head| head.seq);
        let behind = copy.read().unwrap_or_else(PoisonError::into_inner).upto < head;
        if behind {
            let mut copy = copy.write().unwrap_or_else(PoisonError::into_inner);
            copy.follow(tx, ws, head)?;
        }
        let copy = copy.read().unwrap_or_else(PoisonError::into_inner);
        Ok(copy.near(query, wanted, most))
    }

    /// The same by an external model, and how close some other things are.
    pub fn near_external(
        &self,
        tx: &mut ReadTx<'_>,
        ws: Ws,
        meant: &Meant,
        wanted: impl Fn(&str) -> bool,
        (most, others): (usize, &[Id]),
    ) -> Result<Vec<Near>> {
        let copy = self.of(ws, Some(&meant.model));
        let head = workspaces::head(tx, ws, false)?.map_or(Seq::ZERO, |head| head.seq);
        let there = embeddings::progress(tx, ws, &meant.model)?;
        let behind = {
            let copy = copy.read().unwrap_or_else(PoisonError::into_inner);
            copy.upto < head || copy.filled < there.filled || copy.dims != dims(there)
        };
        if behind {
            let mut copy = copy.write().unwrap_or_else(PoisonError::into_inner);
            copy.follow_external(tx, ws, &meant.model, head, there)?;
        }
        let copy = copy.read().unwrap_or_else(PoisonError::into_inner);
        Ok(copy.near_external(meant, wanted, most, others))
    }
}

/// Numbers of a model's vectors; 0 before it has seen anything.
fn dims(there: Progress) -> usize {
    usize::try_from(there.dims).unwrap_or(0)
}

impl Copy {
    fn new(dims: usize) -> Copy {
        Copy {
            upto: Seq::ZERO,
            filled: 0,
            dims,
            vectors: Vec::new(),
            owners: Vec::new(),
            places: HashMap::new(),
            kinds: Vec::new(),
            deleted: 0,
            baseline: Vec::new(),
        }
    }

    /// Takes in what changed up to the end of the log as this transaction sees it.
    fn follow(&mut self, tx: &mut ReadTx<'_>, ws: Ws, head: Seq) -> Result<()> {
        if self.upto >= head {
            return Ok(());
        }
        if purge::last(tx, ws)? > self.upto {
            *self = Copy::new(BYTES);
        }
        let done = match self.upto {
            Seq::ZERO => vectors::all(tx, ws, |one| self.take(&one)),
            upto => vectors::since(tx, ws, upto, |one| self.take(&one)),
        };
        if done.is_err() {
            // Half of it may be there: begin anew.
            *self = Copy::new(BYTES);
            return done;
        }
        self.upto = head;
        self.tidy();
        Ok(())
    }

    /// Lets go of what was said before, then takes in what the model has seen since.
    fn follow_external(
        &mut self,
        tx: &mut ReadTx<'_>,
        ws: Ws,
        model: &str,
        head: Seq,
        there: Progress,
    ) -> Result<()> {
        // Another search, which saw more, was here before.
        if there.filled < self.filled {
            return Ok(());
        }
        if self.dims != dims(there) || purge::last(tx, ws)? > self.upto {
            *self = Copy::new(dims(there));
            let baseline = embeddings::baseline(tx, ws, model)?;
            self.baseline = baseline.into_iter().map(u8::cast_signed).collect();
        }
        let done = self.take_external(tx, ws, model, head);
        if done.is_err() {
            *self = Copy::new(0);
            return done;
        }
        self.filled = there.filled;
        self.upto = self.upto.max(head);
        self.tidy();
        Ok(())
    }

    fn take_external(&mut self, tx: &mut ReadTx<'_>, ws: Ws, model: &str, head: Seq) -> Result<()> {
        if self.upto > Seq::ZERO && self.upto < head {
            for id in vectors::changed(tx, ws, self.upto)? {
                self.drop(id);
            }
        }
        embeddings::since(tx, ws, model, self.filled, |one| self.take(&one))
    }

    fn tidy(&mut self) {
        if self.deleted > 1_024 && self.deleted > self.owners.len() / 2 {
            self.compact();
        }
    }

    fn drop(&mut self, id: Id) {
        if let Some((first, count)) = self.places.remove(&id) {
            for owner in self.owners.iter_mut().skip(first).take(count) {
                owner.id = Id::ZERO;
            }
            self.deleted += count;
        }
    }

    fn take(&mut self, one: &vectors::Vectors) {
        self.drop(one.id);
        if self.dims == 0 || one.bytes.len() < self.dims {
            return;
        }
        let kind = self.kind(&one.kind);
        let first = self.owners.len();
        for (part, bytes) in (0..).zip(one.bytes.chunks_exact(self.dims)) {
            let start = self.vectors.len();
            self.vectors
                .extend(bytes.iter().map(|byte| byte.cast_signed()));
            self.owners.push(Owner {
                id: one.id,
                part,
                kind,
                length: length(&self.vectors[start..]),
            });
        }
        self.places
            .insert(one.id, (first, self.owners.len() - first));
    }

    fn kind(&mut self, kind: &str) -> u8 {
        let at = self.kinds.iter().position(|there| there == kind);
        let at = at.unwrap_or_else(|| {
            self.kinds.push(kind.to_string());
            self.kinds.len() - 1
        });
        u8::try_from(at).unwrap_or(u8::MAX)
    }

    fn compact(&mut self) {
        let mut copy = Copy::new(self.dims);
        for (vector, owner) in self.vectors.chunks_exact(self.dims).zip(&self.owners) {
            if owner.id != Id::ZERO {
                let place = copy.places.entry(owner.id);
                place.or_insert((copy.owners.len(), 0)).1 += 1;
                copy.vectors.extend(vector);
                copy.owners.push(owner.clone());
            }
        }
        (copy.upto, copy.filled) = (self.upto, self.filled);
        copy.kinds = std::mem::take(&mut self.kinds);
        copy.baseline = std::mem::take(&mut self.baseline);
        *self = copy;
    }

    /// Which of the owners are of a wanted kind.
    fn counting(&self, wanted: impl Fn(&str) -> bool) -> impl Fn(usize) -> bool {
        let wanted: Vec<bool> = self.kinds.iter().map(|kind| wanted(kind)).collect();
        move |at: usize| {
            let owner = self.owners.get(at);
            owner.is_some_and(|owner| {
                owner.id != Id::ZERO && wanted.get(usize::from(owner.kind)) == Some(&true)
            })
        }
    }

    fn near(&self, query: &Query, wanted: impl Fn(&str) -> bool, most: usize) -> Vec<Near> {
        let (vectors, _) = self.vectors.as_chunks::<BYTES>();
        // One thing may have several close passages.
        let closest = query.closest(vectors, 2 * most, self.counting(wanted));
        self.each_once(closest.into_iter(), most)
    }

    fn near_external(
        &self,
        meant: &Meant,
        wanted: impl Fn(&str) -> bool,
        most: usize,
        others: &[Id],
    ) -> Vec<Near> {
        if self.dims == 0 || meant.vector.len() != self.dims {
            return Vec::new();
        }
        let mut usual = Usual::default();
        let asked = (&meant.vector[..], length(&meant.vector));
        for text in self.baseline.chunks_exact(self.dims) {
            usual.see(cosine(asked, (text, length(text))));
        }
        let all = self.vectors.chunks_exact(self.dims).zip(&self.owners);
        let all: Vec<f32> = all
            .map(|(vector, owner)| {
                let closeness = cosine(asked, (vector, owner.length));
                if owner.id != Id::ZERO {
                    usual.see(closeness);
                }
                closeness
            })
            .collect();
        let counts = self.counting(wanted);
        let mut places: Vec<usize> = (0..all.len()).filter(|at| counts(*at)).collect();
        let closer = |a: &usize, b: &usize| all[*b].total_cmp(&all[*a]).then(a.cmp(b));
        if places.len() > 2 * most {
            places.select_nth_unstable_by(2 * most, closer);
            places.truncate(2 * most);
        }
        places.sort_unstable_by(closer);
        let beyond = |at: usize| (at, usual.beyond(all[at]));
        let mut found = self.each_once(places.into_iter().map(beyond), most);
        for id in others {
            let known = found.iter().any(|near| near.id == *id);
            let Some((first, count)) = self.places.get(id).filter(|_| !known) else {
                continue;
            };
            let mut parts: Vec<usize> = (*first..first + count).collect();
            parts.sort_unstable_by(closer);
            found.extend(self.each_once(parts.into_iter().map(beyond).take(1), 1));
        }
        found
    }

    /// The things that vectors belong to. Of lines each passage is a hit of its own.
    fn each_once(&self, closest: impl Iterator<Item = (usize, f32)>, most: usize) -> Vec<Near> {
        let mut found: Vec<Near> = Vec::new();
        for (at, closeness) in closest {
            let Some(owner) = self.owners.get(at) else {
                continue;
            };
            let lines = self.kinds.get(usize::from(owner.kind)).map(String::as_str);
            let lines = lines == Some(sort::LINES);
            let known = found.iter().any(|near| near.id == owner.id);
            if found.len() < most && (lines || !known) {
                found.push(Near {
                    id: owner.id,
                    part: usize::try_from(owner.part).unwrap_or(0),
                    closeness,
                });
            }
        }
        found
    }
}
