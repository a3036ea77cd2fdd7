//! Bytes held for calls that are not answered yet: bodies while they arrive, and what they are
//! parsed into.
//!
//! They are counted as they come, by agent, by workspace and in all, so that no caller takes the
//! memory that others need. A body whose declared size does not fit is refused before it is read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use understory_model::{Caller, Code, Fault, limits};

/// Seconds after which one who was refused may ask again.
const AGAIN: i64 = 2;

/// What is held, by whom.
#[derive(Default)]
pub struct Held {
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    by_agent: HashMap<Agent, usize>,
    by_workspace: HashMap<String, usize>,
    all: usize,
}

/// An agent of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Agent {
    workspace: String,
    name: String,
}

/// Who has too many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    Agent,
    Workspace,
    Server,
}

impl Full {
    pub fn fault(self) -> Fault {
        let (who, limit) = match self {
            Full::Agent => ("this agent", limits::HELD_BYTES_PER_AGENT),
            Full::Workspace => ("this workspace", limits::HELD_BYTES_PER_WORKSPACE),
            Full::Server => ("this server", limits::HELD_BYTES),
        };
        let problem = format!(
            "the calls of {who} that are not answered yet hold too many bytes: at most {} MB",
            limit >> 20
        );
        Fault::new(Code::RateLimited, problem)
            .hint("Wait for the answers to calls in flight, then go on.")
            .details(json!({ "retry_after_s": AGAIN }))
    }
}

/// The bytes of one call, held for as long as it lives.
pub struct Share {
    held: Arc<Held>,
    agent: Agent,
    bytes: usize,
}

impl Held {
    /// A share of a caller, empty at first.
    pub fn share(self: &Arc<Held>, caller: &Caller) -> Share {
        Share {
            held: Arc::clone(self),
            agent: Agent {
                workspace: caller.workspace.clone(),
                name: caller.agent.clone(),
            },
            bytes: 0,
        }
    }

    /// All bytes that are held.
    pub fn bytes(&self) -> usize {
        self.counts().all
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn room(&self, agent: &Agent, bytes: usize) -> Result<(), Full> {
        let own = self.by_agent.get(agent).copied().unwrap_or_default();
        let workspace = self
            .by_workspace
            .get(&agent.workspace)
            .copied()
            .unwrap_or_default();
        for (held, most, full) in [
            (own, limits::HELD_BYTES_PER_AGENT, Full::Agent),
            (workspace, limits::HELD_BYTES_PER_WORKSPACE, Full::Workspace),
            (self.all, limits::HELD_BYTES, Full::Server),
        ] {
            if held.saturating_add(bytes) > most {
                return Err(full);
            }
        }
        Ok(())
    }
}

impl Share {
    /// Whether this number of bytes would fit now.
    pub fn would_fit(&self, bytes: usize) -> Result<(), Full> {
        self.held.counts().room(&self.agent, bytes)
    }

    /// Holds this number of bytes.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Full> {
        let mut counts = self.held.counts();
        counts.room(&self.agent, bytes)?;
        counts.all += bytes;
        *counts.by_agent.entry(self.agent.clone()).or_default() += bytes;
        let workspace = counts.by_workspace.entry(self.agent.workspace.clone());
        *workspace.or_default() += bytes;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut counts = self.held.counts();
        counts.all -= self.bytes;
        less(&mut counts.by_agent, &self.agent, self.bytes);
        less(&mut counts.by_workspace, &self.agent.workspace, self.bytes);
    }
}

fn less<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, usize>, key: &K, by: usize) {
    if let Some(count) = counts.get_mut(key) {
        *count -= by;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use understory_model::Role;

    use super::*;
    use crate::http::reply::retry_after;

    fn caller(agent: &str, workspace: &str) -> Caller {
        Caller {
            workspace: workspace.into(),
            origin: None,
            agent: agent.into(),
            session: "s".into(),
            role: Role::Worker,
            project: "default".into(),
            via: understory_model::Via::Token,
        }
    }

    #[test]
    fn an_agent_a_workspace_and_all_have_a_limit() {
        let held = Arc::new(Held::default());
        let mut shares = Vec::new();
        let mut take = |agent: &str, workspace: &str, bytes: usize| {
            let mut share = held.share(&caller(agent, workspace));
            share.would_fit(bytes)?;
            share.grow(bytes)?;
            shares.push(share);
            Ok(())
        };
        let own = limits::HELD_BYTES_PER_AGENT;
        take("ada", "w1", own - 1).unwrap();
        assert_eq!(take("ada", "w1", 2), Err(Full::Agent));
        take("ada", "w1", 1).unwrap();
        take("bob", "w1", own).unwrap();
        assert_eq!(take("eve", "w1", 1), Err(Full::Workspace));
        take("ada", "w2", own).unwrap();
        take("bob", "w2", own).unwrap();
        assert_eq!(take("ada", "w3", 1), Err(Full::Server));
        shares.clear();
        let counts = held.counts();
        assert!(counts.by_agent.is_empty() && counts.by_workspace.is_empty() && counts.all == 0);
    }

    #[test]
    fn a_refusal_says_whose_bytes_and_when_to_ask_again() {
        let fault = Full::Workspace.fault();
        assert_eq!(fault.code, Code::RateLimited);
        assert!(fault.message.contains("this workspace"));
        assert_eq!(retry_after(&fault), u64::try_from(AGAIN).ok());
    }
}
