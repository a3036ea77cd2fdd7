//! The vectors of each workspace, kept in memory and brought up to date before each search.
//!
//! A search has to look at every vector, and a database hands them over far more slowly than they
//! can be compared. The log says what changed since, whichever process wrote it: the copy is never
//! asked whether it is current, it is made so. It holds nothing that core does not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use understory_meaning::{BYTES, Query};
use understory_model::error::Result;
use understory_model::{Id, Seq, Ws};
use understory_storage::{Tx, vectors, workspaces};

use crate::search::sort;

/// Workspaces that are kept; the one that was asked least recently goes first.
const MAX_WORKSPACES: usize = 16;

/// The vectors of some workspaces.
#[derive(Default)]
pub struct Kept {
    workspaces: Mutex<Vec<(Ws, Arc<RwLock<Copy>>)>>,
}

/// A thing that points where a question does, by its closest passage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    pub id: Id,
    /// The number of the passage.
    pub part: usize,
    pub closeness: f32,
}

/// One workspace's vectors as of one place in its log.
#[derive(Default)]
struct Copy {
    upto: Seq,
    vectors: Vec<[i8; BYTES]>,
    /// Whose each is; 0 for nobody's any more.
    owners: Vec<Owner>,
    places: HashMap<Id, (usize, usize)>,
    kinds: Vec<String>,
    nobodys: usize,
}

#[derive(Default, Clone)]
struct Owner {
    id: Id,
    part: u32,
    kind: u8,
}

impl Kept {
    fn of(&self, ws: Ws) -> Arc<RwLock<Copy>> {
        let mut all = self
            .workspaces
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = match all.iter().position(|(of, _)| *of == ws) {
            Some(at) => all.remove(at),
            None => (ws, Arc::default()),
        };
        let copy = Arc::clone(&found.1);
        all.insert(0, found);
        all.truncate(MAX_WORKSPACES);
        copy
    }

    /// What points where the question does, best first: of the kinds that are wanted, each once.
    pub fn near(
        &self,
        tx: &mut Tx<'_>,
        ws: Ws,
        query: &Query,
        wanted: impl Fn(&str) -> bool,
        most: usize,
    ) -> Result<Vec<Near>> {
        let copy = self.of(ws);
        let head = workspaces::head(tx, ws, false)?.map_or(0, |head| head.seq);
        let behind = copy.read().unwrap_or_else(PoisonError::into_inner).upto < head;
        if behind {
            let mut copy = copy.write().unwrap_or_else(PoisonError::into_inner);
            copy.follow(tx, ws, head)?;
        }
        let copy = copy.read().unwrap_or_else(PoisonError::into_inner);
        Ok(copy.near(query, wanted, most))
    }
}

impl Copy {
    /// Takes in what changed up to the end of the log as this transaction sees it.
    fn follow(&mut self, tx: &mut Tx<'_>, ws: Ws, head: Seq) -> Result<()> {
        if self.upto >= head {
            return Ok(());
        }
        let done = match self.upto {
            0 => vectors::all(tx, ws, |one| self.take(&one)),
            upto => vectors::since(tx, ws, upto, |one| self.take(&one)),
        };
        if done.is_err() {
            // Half of it may be there: begin anew.
            *self = Copy::default();
        }
        done?;
        self.upto = head;
        if self.nobodys > 1_024 && self.nobodys > self.vectors.len() / 2 {
            self.compact();
        }
        Ok(())
    }

    fn take(&mut self, one: &vectors::Vectors) {
        if let Some((first, count)) = self.places.remove(&one.id) {
            for owner in self.owners.iter_mut().skip(first).take(count) {
                owner.id = 0;
            }
            self.nobodys += count;
        }
        let (found, _) = one.bytes.as_chunks::<BYTES>();
        if found.is_empty() {
            return;
        }
        let kind = self.kind(&one.kind);
        self.places
            .insert(one.id, (self.vectors.len(), found.len()));
        for (part, bytes) in (0..).zip(found) {
            self.vectors.push(bytes.map(u8::cast_signed));
            self.owners.push(Owner {
                id: one.id,
                part,
                kind,
            });
        }
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
        let (mut vectors, mut owners) = (Vec::new(), Vec::new());
        self.places.clear();
        for (vector, owner) in self.vectors.iter().zip(&self.owners) {
            if owner.id != 0 {
                let place = self.places.entry(owner.id).or_insert((vectors.len(), 0));
                place.1 += 1;
                vectors.push(*vector);
                owners.push(owner.clone());
            }
        }
        (self.vectors, self.owners, self.nobodys) = (vectors, owners, 0);
    }

    fn near(&self, query: &Query, wanted: impl Fn(&str) -> bool, most: usize) -> Vec<Near> {
        let wanted: Vec<bool> = self.kinds.iter().map(|kind| wanted(kind)).collect();
        let counts = |at: usize| {
            let owner = self.owners.get(at);
            owner.is_some_and(|owner| {
                owner.id != 0 && wanted.get(usize::from(owner.kind)) == Some(&true)
            })
        };
        let mut found: Vec<Near> = Vec::new();
        // One thing may have several close passages. Of lines each is a hit of its own.
        for (at, closeness) in query.closest(&self.vectors, 2 * most, counts) {
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
