//! Whose turn it is to be at work: a limited number of calls of one agent and of one workspace have
//! a thread at once, and the others wait, so that nobody has them all.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use understory_model::{Caller, limits};

use crate::pool::Pool;

/// The turns of every agent and workspace.
#[derive(Default)]
pub struct Turns {
    agents: Pool<(String, String), Semaphore>,
    workspaces: Pool<String, Semaphore>,
}

/// A turn, taken for as long as it lives.
pub struct Turn {
    _agents: Option<OwnedSemaphorePermit>,
    _workspaces: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// Waits for the caller's turn. Nobody closes a semaphore, so there is always one in the end.
    pub async fn take(&self, caller: &Caller) -> Turn {
        let agent = (caller.workspace.clone(), caller.agent.clone());
        let make = |most| move || Arc::new(Semaphore::new(most));
        let agents = self.agents.get(&agent, make(limits::WORKING_PER_AGENT));
        let workspaces = self
            .workspaces
            .get(&caller.workspace, make(limits::WORKING_PER_WORKSPACE));
        // The agent's own first: those of it that wait hold nothing of the workspace's.
        Turn {
            _agents: agents.acquire_owned().await.ok(),
            _workspaces: workspaces.acquire_owned().await.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::task::{Context, Poll, Waker};

    use understory_model::Role;

    use super::*;

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

    /// A turn, if there is one now.
    fn now(turns: &Turns, caller: &Caller) -> Option<Turn> {
        let mut taking = std::pin::pin!(turns.take(caller));
        match taking
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn an_agent_and_a_workspace_have_so_many_turns() {
        let turns = Turns::default();
        let mut taken = Vec::new();
        while let Some(turn) = now(&turns, &caller("ada", "w")) {
            taken.push(turn);
        }
        assert_eq!(taken.len(), limits::WORKING_PER_AGENT);
        for agent in 0.. {
            match now(&turns, &caller(&agent.to_string(), "w")) {
                Some(turn) => taken.push(turn),
                None => break,
            }
        }
        assert_eq!(taken.len(), limits::WORKING_PER_WORKSPACE);
        assert!(
            now(&turns, &caller("ada", "v")).is_some(),
            "another's turns"
        );
        taken.pop();
        assert!(now(&turns, &caller("bob", "w")).is_some());
    }
}
