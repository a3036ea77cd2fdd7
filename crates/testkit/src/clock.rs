//! A clock that tests turn, and chance that repeats.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use understory_engine::kernel::clock::Clock;
use understory_model::Time;

/// Starts at noon on 17 February 2026 and ticks a millisecond with every look.
pub struct TestClock {
    now: AtomicI64,
    chance: AtomicU64,
}

impl Default for TestClock {
    fn default() -> TestClock {
        TestClock {
            now: AtomicI64::new(1_771_329_600_000_000),
            chance: AtomicU64::new(1),
        }
    }
}

impl TestClock {
    /// Moves the time by seconds, backwards too.
    pub fn turn(&self, seconds: i64) {
        self.now.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Time {
        Time(self.now.fetch_add(1_000, Ordering::SeqCst))
    }

    fn chance(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes[2..].copy_from_slice(&self.chance.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        bytes
    }
}
