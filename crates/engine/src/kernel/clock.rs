//! The only place that knows the time and random numbers; everything else is given them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use understory_model::Time;
use uuid::{Builder, Uuid};

/// Where "now" and fresh names come from; tests bring their own.
pub trait Clock: Send + Sync {
    fn now(&self) -> Time;
    /// Ten random bytes, which nobody else has.
    fn chance(&self) -> [u8; 10];

    /// A name that sorts by time.
    fn uuid(&self, at: Time) -> Uuid {
        let millis = u64::try_from(at.0 / 1_000).unwrap_or(0);
        Builder::from_unix_timestamp_millis(millis, &self.chance()).into_uuid()
    }
}

/// How long something has been waited for. The time of day may be set back meanwhile; this not.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    since: Instant,
    most: Duration,
}

impl Wait {
    pub(crate) fn of(most: Duration) -> Wait {
        Wait {
            since: Instant::now(),
            most,
        }
    }

    /// How long it has lasted.
    pub(crate) fn lasted(self) -> Duration {
        self.since.elapsed()
    }

    /// What is left of it; zero when it is over.
    pub(crate) fn left(self) -> Duration {
        self.most.saturating_sub(self.since.elapsed())
    }
}

/// The machine's clock and the system's randomness.
pub struct System;

impl Clock for System {
    fn now(&self) -> Time {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Time(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn chance(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        // A random uuid is the shortest way to the system's randomness; its last ten bytes hold
        // the variant's two fixed bits, which the new uuid fixes anyway.
        bytes.copy_from_slice(&Uuid::new_v4().as_bytes()[6..]);
        bytes
    }
}
