//! What these tests share: chance from a seed, and looks past the engine.

use std::collections::BTreeSet;

use understory_model::item::Item;
use understory_model::{Seq, Ws};
use understory_storage::dump::{self, Digest};
use understory_storage::{Store, items};
use understory_testkit::{Backend, World};

/// Chance that repeats: the same seed, the same program.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`, by splitmix.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((x ^ (x >> 31)) % n as u64).expect("below n")
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// The store without the engine's rules.
pub fn store(backend: &Backend) -> Store {
    Store::new(&backend.store(), understory_storage::Options::default())
}

/// One number for each core table.
pub fn core(world: &World) -> Vec<Digest> {
    core_in(&store(&world.backend))
}

pub fn core_in(store: &Store) -> Vec<Digest> {
    let found = store.read(|tx| dump::core(tx));
    found.expect("core is readable").expect("a store")
}

/// Everything that happened in a workspace, by its number.
pub fn soil(world: &World, ws: i64) -> Vec<Item> {
    soil_in(&store(&world.backend), ws)
}

pub fn soil_in(store: &Store, ws: i64) -> Vec<Item> {
    let found = store.read(|tx| items::after(tx, Ws(ws), Seq::ZERO, i64::MAX));
    found.expect("soil is readable").unwrap_or_default()
}

/// Fails unless the sequence is 1, 2, 3, … and no name or handle was given twice.
#[track_caller]
pub fn assert_gapless(items: &[Item]) {
    for (at, item) in items.iter().enumerate() {
        assert_eq!(item.seq, Seq(at as i64 + 1), "the sequence has a gap");
    }
    let names: BTreeSet<_> = items.iter().map(|item| item.uuid).collect();
    assert_eq!(names.len(), items.len(), "a name was given twice");
    let made = created(items);
    let different: BTreeSet<_> = made.iter().collect();
    assert_eq!(different.len(), made.len(), "a handle was given twice");
}

/// The handles that items made, in order.
pub fn created(items: &[Item]) -> Vec<String> {
    items
        .iter()
        .filter_map(|item| serde_json::from_str::<serde_json::Value>(item.content.as_deref()?).ok())
        .filter(|delta| delta["action"] == "created")
        .filter_map(|delta| Some(delta["handle"].as_str()?.to_string()))
        .collect()
}
