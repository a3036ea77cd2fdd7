//! Limits for what callers keep open: for each caller, for each workspace, and in total.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use understory_model::{Caller, Code, Fault};

/// Seconds after which one who found no place may ask again.
const AGAIN: i64 = 5;

/// How many places there are, and how many are taken.
pub struct Limiter {
    taken: Arc<Mutex<HashMap<Caller, usize>>>,
    /// What takes a place, in the words of the refusal.
    what: &'static str,
    hint: &'static str,
    most: Most,
}

/// How many places there are for one caller, for all callers of a workspace, and in all.
#[derive(Debug, Clone, Copy)]
pub struct Most {
    pub caller: usize,
    pub workspace: usize,
    pub all: usize,
}

/// A place, taken for as long as it lives.
pub struct Place {
    caller: Caller,
    taken: Arc<Mutex<HashMap<Caller, usize>>>,
}

impl Limiter {
    pub fn new(what: &'static str, hint: &'static str, most: Most) -> Limiter {
        Limiter {
            taken: Arc::default(),
            what,
            hint,
            most,
        }
    }

    /// Takes a place, unless the caller, its workspace or all together have too many.
    pub fn enter(&self, caller: &Caller) -> Result<Place, Fault> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = taken.values().sum();
        let same = taken.iter();
        let same = same.filter(|(other, _)| other.workspace == caller.workspace);
        let workspace: usize = same.map(|(_, count)| count).sum();
        let own = taken.get(caller).copied().unwrap_or_default();
        let most = self.most;
        if own >= most.caller || workspace >= most.workspace || all >= most.all {
            let problem = format!(
                "too many {}: at most {} of one caller, {} of one workspace and {} in all",
                self.what, most.caller, most.workspace, most.all
            );
            return Err(Fault::new(Code::RateLimited, problem)
                .hint(self.hint)
                .details(json!({ "retry_after_s": AGAIN })));
        }
        taken.insert(caller.clone(), own + 1);
        Ok(Place {
            caller: caller.clone(),
            taken: Arc::clone(&self.taken),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.caller) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use understory_model::Role;

    use super::*;

    fn caller(agent: usize) -> Caller {
        of("w", agent)
    }

    fn of(workspace: &str, agent: usize) -> Caller {
        Caller {
            workspace: workspace.into(),
            origin: None,
            agent: format!("a{agent}"),
            session: "s".into(),
            role: Role::Worker,
            project: "default".into(),
            via: understory_model::Via::Local,
        }
    }

    #[test]
    fn one_caller_and_all_together_have_a_limit() {
        let most = Most {
            caller: 4,
            workspace: 8,
            all: 10,
        };
        let limiter = Limiter::new("open doors", "Close one first.", most);
        let mut taken: Vec<Place> = (0..4)
            .map(|_| limiter.enter(&caller(0)).ok().unwrap())
            .collect();
        let fault = limiter.enter(&caller(0)).err().unwrap();
        assert_eq!(fault.code, Code::RateLimited);
        assert!(fault.message.contains("open doors"));
        taken.pop();
        taken.push(limiter.enter(&caller(0)).ok().unwrap());
        for agent in 1..5 {
            taken.push(limiter.enter(&caller(agent)).ok().unwrap());
        }
        assert!(limiter.enter(&caller(9)).is_err(), "the workspace's share");
        for agent in 0..2 {
            taken.push(limiter.enter(&of("v", agent)).ok().unwrap());
        }
        assert!(limiter.enter(&of("u", 9)).is_err(), "all");
        drop(taken);
        assert!(limiter.enter(&caller(9)).is_ok());
        assert_eq!(limiter.taken.lock().unwrap().len(), 0);
    }
}
