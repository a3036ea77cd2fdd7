//! How fast one agent may call: a bucket that fills steadily and is emptied by calls.
//!
//! Each call takes one. What a large or a long call costs the server is taken besides, once it is
//! known: for each 64 KiB of its body after the first, and for its time at work after the first 10
//! milliseconds, so much that four calls at work all the time use up what flows in. The bucket may
//! go below zero by that; then the agent waits until it has one again.
//!
//! The buckets are this process's own and are forgotten when they are full again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use understory_model::{Caller, Code, Fault, limits};

/// This many buckets are kept before full ones are looked for.
const MANY: usize = 4_096;

/// The buckets of every agent.
pub struct Rates {
    per_second: f64,
    most: f64,
    buckets: Mutex<HashMap<(String, String), Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    pub fn new(per_second: i64) -> Rates {
        Rates {
            per_second: per_second as f64,
            most: (per_second * limits::RATE_BURST_SECONDS) as f64,
            buckets: Mutex::default(),
        }
    }

    /// Takes one call out of the agent's bucket, or says when there will be one.
    pub fn take(&self, caller: &Caller, now: Instant) -> Result<(), Fault> {
        let left = self.bucket(caller, now, |bucket| {
            let left = bucket.left;
            if left >= 1.0 {
                bucket.left -= 1.0;
            }
            left
        });
        if left >= 1.0 {
            return Ok(());
        }
        let wait = ((1.0 - left) / self.per_second).ceil().max(1.0);
        let problem = format!(
            "more than {} calls a second, where large bodies and long calls count as several",
            self.per_second
        );
        Err(Fault::new(Code::RateLimited, problem)
            .hint("Wait, then go on; the setting `rate_per_second` allows more.")
            .details(json!({ "retry_after_s": wait as u64 })))
    }

    /// Takes what a body of this many bytes costs besides its call.
    pub fn spend_bytes(&self, caller: &Caller, bytes: usize, now: Instant) {
        self.spend(caller, (bytes / limits::RATE_BYTES) as f64, now);
    }

    /// Takes what so much time at work costs besides its call.
    pub fn spend_time(&self, caller: &Caller, took: Duration, now: Instant) {
        let long = took.saturating_sub(Duration::from_millis(limits::RATE_FREE_MILLIS));
        let share = self.per_second / limits::RATE_CALLS_AT_ONCE as f64;
        self.spend(caller, long.as_secs_f64() * share, now);
    }

    /// The debt is bounded: nobody waits longer than a full bucket takes to fill.
    fn spend(&self, caller: &Caller, cost: f64, now: Instant) {
        if cost > 0.0 {
            self.bucket(caller, now, |bucket| {
                bucket.left = (bucket.left - cost).max(-self.most);
            });
        }
    }

    /// Does something with an agent's bucket as it is now.
    fn bucket<T>(&self, caller: &Caller, now: Instant, work: impl FnOnce(&mut Bucket) -> T) -> T {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MANY {
            buckets.retain(|_, bucket| self.filled(bucket, now) < self.most);
        }
        let agent = (caller.workspace.clone(), caller.agent.clone());
        let bucket = buckets.entry(agent).or_insert(Bucket {
            left: self.most,
            at: now,
        });
        bucket.left = self.filled(bucket, now);
        bucket.at = bucket.at.max(now);
        work(bucket)
    }

    fn filled(&self, bucket: &Bucket, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.left + passed * self.per_second).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use understory_model::Role;

    use super::*;
    use crate::http::reply::retry_after;

    fn caller(agent: &str) -> Caller {
        Caller {
            workspace: "w".into(),
            origin: None,
            agent: agent.into(),
            session: "s".into(),
            role: Role::Worker,
            project: "default".into(),
            via: understory_model::Via::Local,
        }
    }

    #[test]
    fn a_bucket_holds_its_burst_and_fills_again() {
        let (rates, now) = (Rates::new(10), Instant::now());
        let burst = 10 * limits::RATE_BURST_SECONDS;
        for _ in 0..burst {
            assert!(rates.take(&caller("ada"), now).is_ok());
        }
        let fault = rates.take(&caller("ada"), now).unwrap_err();
        assert_eq!((fault.code, fault.code.status()), (Code::RateLimited, 429));
        assert_eq!(retry_after(&fault), Some(1));
        assert!(rates.take(&caller("bob"), now).is_ok(), "another's bucket");
        let later = now + Duration::from_millis(100);
        assert!(rates.take(&caller("ada"), later).is_ok());
        assert!(rates.take(&caller("ada"), later).is_err());
    }

    #[test]
    fn large_bodies_and_long_calls_cost_more_and_small_ones_do_not() {
        let (rates, now) = (Rates::new(10), Instant::now());
        let burst = 10 * limits::RATE_BURST_SECONDS;
        let ada = caller("ada");
        for _ in 0..burst / 2 {
            rates.take(&ada, now).unwrap();
            rates.spend_bytes(&ada, limits::RATE_BYTES - 1, now);
            rates.spend_time(&ada, Duration::from_millis(limits::RATE_FREE_MILLIS), now);
        }
        rates.spend_bytes(&ada, limits::RATE_BYTES * (burst as usize / 2 - 1), now);
        assert!(rates.take(&ada, now).is_ok() && rates.take(&ada, now).is_err());

        // Four seconds at work of one call cost what one second brings.
        let bob = caller("bob");
        let free = Duration::from_millis(limits::RATE_FREE_MILLIS);
        let long = Duration::from_secs(4 * limits::RATE_BURST_SECONDS as u64) + free;
        rates.spend_time(&bob, long, now);
        assert!(rates.take(&bob, now).is_err());
        assert!(rates.take(&bob, now + Duration::from_millis(100)).is_ok());
        // However much was spent, the wait is bounded.
        rates.spend_time(&bob, Duration::from_secs(100_000), now);
        let fault = rates.take(&bob, now).unwrap_err();
        let wait = retry_after(&fault).unwrap();
        assert!(wait <= limits::RATE_BURST_SECONDS as u64 + 1, "{wait}");
    }

    #[test]
    fn full_buckets_are_forgotten() {
        let (rates, now) = (Rates::new(10), Instant::now());
        for agent in 0..MANY {
            let _ = rates.take(&caller(&agent.to_string()), now);
        }
        let _ = rates.take(&caller("last"), now + Duration::from_secs(60));
        assert!(rates.buckets.lock().unwrap().len() <= 2);
    }
}
