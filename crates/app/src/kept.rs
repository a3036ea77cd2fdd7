//! Things that are kept for callers: made when first asked for, let go when nobody has them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// This many are kept before unused ones are let go.
const MANY: usize = 1_024;

/// Things that are made when first asked for, and let go when they are many and nobody has them.
pub struct Kept<K, V> {
    things: Mutex<HashMap<K, Arc<V>>>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Kept<K, V> {
        Kept {
            things: Mutex::default(),
        }
    }
}

impl<K: Eq + Hash + Clone, V> Kept<K, V> {
    pub fn get(&self, key: &K, make: impl FnOnce() -> Arc<V>) -> Arc<V> {
        let mut things = self.things.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thing) = things.get(key) {
            return Arc::clone(thing);
        }
        if things.len() >= MANY {
            things.retain(|_, thing| Arc::strong_count(thing) > 1);
        }
        let made = make();
        things.insert(key.clone(), Arc::clone(&made));
        made
    }
}
