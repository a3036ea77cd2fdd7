//! The cache of one table during a write: a row is read once, changed in memory and written once.

use std::collections::BTreeMap;

use understory_model::error::{Code, Fault, Result};
use understory_model::{Id, Ws};
use understory_storage::Tx;

/// A row that is cached by its id.
pub trait Row: Sized {
    /// What it is called in errors.
    const NAME: &'static str;

    fn id(&self) -> Id;
    fn load(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Self>>;
    fn insert(tx: &mut Tx<'_>, ws: Ws, rows: &[&Self]) -> Result<()>;
    fn update(tx: &mut Tx<'_>, ws: Ws, row: &Self) -> Result<()>;

    fn delete(_tx: &mut Tx<'_>, _ws: Ws, id: Id) -> Result<()> {
        let what = format!("{} {id} cannot be deleted from core", Self::NAME);
        Err(Fault::new(Code::Internal, what))
    }
}

/// What has to happen to a cached row when the cache is flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    Nothing,
    Insert,
    Update,
    Delete,
}

struct Slot<T> {
    row: T,
    pending: Pending,
}

/// The cached rows of one table of a workspace.
pub struct Table<T> {
    ws: Ws,
    slots: BTreeMap<Id, Slot<T>>,
    /// Whether any row may be pending: a flush where none is must cost nothing.
    dirty: bool,
}

impl<T: Row> Table<T> {
    pub fn new(ws: Ws) -> Table<T> {
        Table {
            ws,
            slots: BTreeMap::new(),
            dirty: false,
        }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn has(&self, id: Id) -> bool {
        self.slots.contains_key(&id)
    }

    /// The row, loaded where it is not cached; `None` when it does not exist or is deleted. A
    /// caller who changes it calls [`Table::changed`].
    pub fn get(&mut self, tx: &mut Tx<'_>, id: Id) -> Result<Option<&mut T>> {
        if !self.has(id) {
            let Some(row) = T::load(tx, self.ws, id)? else {
                return Ok(None);
            };
            self.cache(row);
        }
        let slot = self.slots.get_mut(&id);
        Ok(slot
            .filter(|slot| slot.pending != Pending::Delete)
            .map(|slot| &mut slot.row))
    }

    /// Caches a row as it is in the store.
    pub fn cache(&mut self, row: T) {
        self.set(row, Pending::Nothing);
    }

    /// Adds a new row.
    pub fn add(&mut self, row: T) {
        self.set(row, Pending::Insert);
    }

    fn set(&mut self, row: T, pending: Pending) {
        self.dirty |= pending != Pending::Nothing;
        self.slots.insert(row.id(), Slot { row, pending });
    }

    /// Replaces a row that exists.
    pub fn replace(&mut self, row: T) {
        let new = self.slots.get(&row.id());
        let new = new.is_some_and(|slot| slot.pending == Pending::Insert);
        self.set(
            row,
            if new {
                Pending::Insert
            } else {
                Pending::Update
            },
        );
    }

    /// Changes a row that must exist.
    pub fn touch(&mut self, tx: &mut Tx<'_>, id: Id, change: impl FnOnce(&mut T)) -> Result<()> {
        match self.get(tx, id)? {
            Some(row) => change(row),
            None => return Err(Self::missing(id)),
        }
        self.changed(id);
        Ok(())
    }

    /// The fault for a row that must exist and does not.
    pub fn missing(id: Id) -> Fault {
        let what = format!("{} {id} is not in core", T::NAME);
        Fault::new(Code::StoreCorrupt, what).hint("Run `understory rebuild`.")
    }

    /// Marks a cached row as changed.
    pub fn changed(&mut self, id: Id) {
        if let Some(slot) = self.slots.get_mut(&id)
            && slot.pending == Pending::Nothing
        {
            slot.pending = Pending::Update;
            self.dirty = true;
        }
    }

    pub fn delete(&mut self, id: Id) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.pending = Pending::Delete;
            self.dirty = true;
        }
    }

    pub fn clear(&mut self) {
        self.slots.clear();
        self.dirty = false;
    }

    /// Writes every pending row in the order of ids: changes, then new rows together.
    pub fn flush(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        if !self.dirty {
            return Ok(());
        }
        let (mut new, mut deleted) = (Vec::new(), false);
        for (id, slot) in &self.slots {
            match slot.pending {
                Pending::Nothing => {}
                Pending::Insert => new.push(&slot.row),
                Pending::Update => T::update(tx, self.ws, &slot.row)?,
                Pending::Delete => {
                    T::delete(tx, self.ws, *id)?;
                    deleted = true;
                }
            }
        }
        if !new.is_empty() {
            T::insert(tx, self.ws, &new)?;
        }
        if deleted {
            self.slots.retain(|_, slot| slot.pending != Pending::Delete);
        }
        for slot in self.slots.values_mut() {
            slot.pending = Pending::Nothing;
        }
        self.dirty = false;
        Ok(())
    }
}
