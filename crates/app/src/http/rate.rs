//! How fast one agent may call: a bucket that fills steadily and is emptied by calls.
//!
//! The buckets are this process's own and are forgotten when they are full again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::json;
use understory_model::{Caller, Code, Fault, limits};

/// So many buckets are kept before full ones are looked for.
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
        bucket.at = now;
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        let wait = ((1.0 - bucket.left) / self.per_second).ceil().max(1.0);
        let problem = format!("more than {} calls a second", self.per_second);
        Err(Fault::new(Code::RateLimited, problem)
            .hint("Wait, then go on; the setting `rate_per_second` allows more.")
            .details(json!({ "retry_after_s": wait as u64 })))
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
        assert_eq!(fault.details.unwrap()["retry_after_s"], 1);
        assert!(rates.take(&caller("bob"), now).is_ok(), "another's bucket");
        let later = now + Duration::from_millis(100);
        assert!(rates.take(&caller("ada"), later).is_ok());
        assert!(rates.take(&caller("ada"), later).is_err());
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
