//! Rows of one table that a write holds: read once, changed in memory, written once.

use std::collections::HashMap;

use understory_model::Id;
use understory_model::error::Result;

/// What has to happen to a row when it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Keep,
    Insert,
    Update,
    Delete,
}

struct Slot<T> {
    row: T,
    fate: Fate,
}

/// The rows that are held, by id.
pub struct Rows<T> {
    held: HashMap<Id, Slot<T>>,
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows {
            held: HashMap::new(),
        }
    }
}

impl<T> Rows<T> {
    pub fn len(&self) -> usize {
        self.held.len()
    }

    pub fn has(&self, id: Id) -> bool {
        self.held.contains_key(&id)
    }

    /// The row, read by `load` where it is not held yet; `None` when there is none, or no more.
    pub fn get(
        &mut self,
        id: Id,
        load: impl FnOnce() -> Result<Option<T>>,
    ) -> Result<Option<&mut T>> {
        if !self.held.contains_key(&id) {
            let Some(row) = load()? else { return Ok(None) };
            self.keep(id, row);
        }
        Ok(self
            .held
            .get_mut(&id)
            .filter(|slot| slot.fate != Fate::Delete)
            .map(|slot| &mut slot.row))
    }

    /// Holds a row as it is in the store.
    pub fn keep(&mut self, id: Id, row: T) {
        let fate = Fate::Keep;
        self.held.insert(id, Slot { row, fate });
    }

    pub fn insert(&mut self, id: Id, row: T) {
        let fate = Fate::Insert;
        self.held.insert(id, Slot { row, fate });
    }

    /// Says that a row that is held was changed.
    pub fn changed(&mut self, id: Id) {
        if let Some(slot) = self.held.get_mut(&id)
            && slot.fate == Fate::Keep
        {
            slot.fate = Fate::Update;
        }
    }

    pub fn delete(&mut self, id: Id) {
        if let Some(slot) = self.held.get_mut(&id) {
            slot.fate = Fate::Delete;
        }
    }

    pub fn clear(&mut self) {
        self.held.clear();
    }

    /// Every row that has to be written, in the order of ids; afterwards none has to be.
    pub fn settle(&mut self, mut write: impl FnMut(Fate, &T) -> Result<()>) -> Result<()> {
        let mut due: Vec<Id> = self
            .held
            .iter()
            .filter(|(_, slot)| slot.fate != Fate::Keep)
            .map(|(id, _)| *id)
            .collect();
        due.sort_unstable();
        for id in due {
            if let Some(slot) = self.held.get_mut(&id) {
                let fate = std::mem::replace(&mut slot.fate, Fate::Keep);
                write(fate, &slot.row)?;
                if fate == Fate::Delete {
                    self.held.remove(&id);
                }
            }
        }
        Ok(())
    }
}
