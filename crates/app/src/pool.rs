//! A pool of things that callers share: made when first asked for, released when unused.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// This many are held before unused ones are released.
const MANY: usize = 1_024;

/// Makes things when they are first asked for, and releases unused ones once there are many.
pub struct Pool<K, V> {
    things: Mutex<HashMap<K, Arc<V>>>,
}

impl<K, V> Default for Pool<K, V> {
    fn default() -> Pool<K, V> {
        Pool {
            things: Mutex::default(),
        }
    }
}

impl<K: Eq + Hash + Clone, V> Pool<K, V> {
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
