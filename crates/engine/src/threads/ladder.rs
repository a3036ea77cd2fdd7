//! Which step wakes somebody: a function of what is known of its sessions, what was tried, what this
//! worker can do, and the time. It reads and starts nothing.
//!
//! From the cheapest step to the dearest: a channel of the live session's client, a hook at the end of
//! its turn, its managed terminal, going on with an ended session, a new session, telling a person. A
//! step that failed is not taken again for the same session.

use serde::{Deserialize, Serialize};
use understory_model::Time;
use understory_model::thread::{Activity, Channel, Tried, WakeAction, WakeData, WakeFailure};

use crate::kernel::process::Process;

/// How long a session's own worker has to take a job before others pass it over, in microseconds.
const OWN: i64 = 15 * 1_000_000;
/// How long a job waits for a worker that can take a step at all.
const ANYBODY: i64 = 60 * 1_000_000;
/// How long a working agent may take to end its turn.
pub const TURN: i64 = 15 * 60 * 1_000_000;
/// When a job is looked at again that others have to take.
const AGAIN: i64 = 5 * 1_000_000;
/// How long a prompt that was delivered may go without an answer of a session that has ended.
const UNREAD: i64 = 2 * 60 * 1_000_000;

/// A session of whoever is to be woken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    pub session: String,
    pub client: String,
    /// What the client calls the chat, which is what resumes it.
    pub client_session: String,
    /// How the live session is reached, if it is.
    pub channel: Option<Channel>,
    /// Where the channel is.
    pub address: String,
    pub folder: String,
    pub activity: Activity,
    /// What is seen in its managed terminal, if it has one.
    pub terminal: Option<Activity>,
    pub alive: bool,
    /// Whether its client can go on with it after it has ended.
    pub resumable: bool,
    /// Whether it ran on this machine.
    pub here: bool,
}

/// What a worker can do.
#[derive(Debug, Clone, Default)]
pub struct Able {
    /// The session whose own worker this is, and which nobody else reaches.
    pub own: Option<String>,
    /// The agent of that session, whose jobs it looks at before they are due.
    pub agent: Option<String>,
    /// Clients into whose live sessions it can send a prompt.
    pub queues: Vec<String>,
    /// Clients whose ended sessions it can resume.
    pub resumes: Vec<String>,
    /// Clients of which it can begin a session, the first preferred.
    pub starts: Vec<String>,
    /// Whether it runs as many agents as it may: it starts none now.
    pub full: bool,
    /// Whether no worker of another machine works on the store.
    pub alone: bool,
    /// Whether it decides that nothing is left to try.
    pub decides: bool,
    /// Says whether a process of its machine still runs.
    pub runs: Option<fn(&Process) -> bool>,
}

/// What is to be done with a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// This worker takes a step.
    Take {
        action: WakeAction,
        way: Option<Way>,
        /// The client of a new session.
        client: Option<String>,
    },
    /// Others take a step, or the agent itself; it is looked at again then.
    Leave { action: WakeAction, until: Time },
    /// Nothing is left to try.
    Failed,
}

/// Decides about a job that was asked for at a moment; the steps that cannot be taken are added to
/// `missed`.
pub fn next(
    job: &WakeData,
    asked: Time,
    waiting: bool,
    ways: &[Way],
    able: &Able,
    now: Time,
    missed: &mut Vec<Tried>,
) -> Next {
    let mut ladder = Ladder {
        job,
        asked,
        ways,
        able,
        now,
        missed,
    };
    if waiting {
        return ladder.leave(WakeAction::WaitForMessages, AGAIN);
    }
    if let Some(next) = ladder.delivered() {
        return next;
    }
    ladder
        .in_session()
        .or_else(|| ladder.end_of_turn())
        .or_else(|| ladder.terminal())
        .or_else(|| ladder.resume())
        .or_else(|| ladder.start())
        .unwrap_or_else(|| ladder.give_up())
}

/// Whether a prompt was delivered that nobody will read any more: its session has ended since.
pub fn is_lost(job: &WakeData, ways: &[Way], now: Time) -> bool {
    let Some(at) = job.delivered_at else {
        return false;
    };
    let session = job.session.as_deref();
    let mut live = ways.iter().filter(|way| way.alive);
    let alive = live.any(|way| Some(way.session.as_str()) == session);
    !alive && now.0.saturating_sub(at.0) >= UNREAD
}

struct Ladder<'l> {
    job: &'l WakeData,
    asked: Time,
    ways: &'l [Way],
    able: &'l Able,
    now: Time,
    missed: &'l mut Vec<Tried>,
}

impl Ladder<'_> {
    fn leave(&self, action: WakeAction, micros: i64) -> Next {
        Next::Leave {
            action,
            until: Time(self.now.0.saturating_add(micros)),
        }
    }

    fn take(action: WakeAction, way: &Way) -> Next {
        Next::Take {
            action,
            way: Some(way.clone()),
            client: None,
        }
    }

    /// How long ago it was asked for.
    fn age(&self) -> i64 {
        self.now.0.saturating_sub(self.asked.0)
    }

    fn miss(&mut self, action: WakeAction, session: Option<&str>, why: &str) {
        let code = match action {
            WakeAction::InSession | WakeAction::EndOfTurn | WakeAction::TriggerRuntime => {
                WakeFailure::UnmanagedRuntime
            }
            _ => WakeFailure::WakeFailed,
        };
        self.missed.push(Tried {
            action,
            code,
            why: why.to_owned(),
            session_id: session.map(str::to_owned),
            at: self.now,
        });
    }

    /// The live sessions for which a step has not failed.
    fn live(&self, action: WakeAction) -> Vec<&'_ Way> {
        let untried = |way: &&Way| self.job.failures(action, Some(&way.session)) == 0;
        let live = self.ways.iter().filter(|way| way.alive);
        live.filter(untried).collect()
    }

    /// A prompt that was delivered is waited for while its session lives, and a while after.
    fn delivered(&self) -> Option<Next> {
        let waits = self.job.delivered_at.is_some() && !is_lost(self.job, self.ways, self.now);
        waits.then(|| self.leave(self.job.action, UNREAD))
    }

    fn in_session(&mut self) -> Option<Next> {
        const ACTION: WakeAction = WakeAction::InSession;
        let reachable = |way: &&Way| way.channel.is_some_and(Channel::begins_turns);
        let ways = self.live(ACTION);
        let ways: Vec<Way> = ways.into_iter().filter(reachable).cloned().collect();
        for way in &ways {
            let sends = match way.channel {
                // Only the hook that waits in the session can begin its turn, and it takes no jobs here.
                Some(Channel::ClaudeRewake) => false,
                _ => way.here && self.able.queues.contains(&way.client),
            };
            if sends {
                return Some(Ladder::take(ACTION, way));
            }
            if self.age() < OWN {
                return Some(self.leave(ACTION, OWN - self.age()));
            }
            let why = match way.channel {
                Some(Channel::ClaudeRewake) => "no hook waits in the session",
                _ if way.here => "your settings list no command that sends it a prompt",
                _ => "no worker on its machine took the job",
            };
            self.miss(ACTION, Some(&way.session), why);
        }
        None
    }

    fn end_of_turn(&mut self) -> Option<Next> {
        const ACTION: WakeAction = WakeAction::EndOfTurn;
        let hooked = |way: &&&Way| way.channel.is_some();
        let ways = self.live(ACTION);
        let way = ways.iter().find(hooked).map(|way| (**way).clone())?;
        if way.activity == Activity::Idle {
            self.miss(ACTION, Some(&way.session), "it is idle: no turn of it ends");
            return None;
        }
        if self.age() < TURN {
            return Some(self.leave(ACTION, AGAIN.max(OWN)));
        }
        let why = "its turn did not end in time";
        self.miss(ACTION, Some(&way.session), why);
        None
    }

    fn terminal(&mut self) -> Option<Next> {
        const ACTION: WakeAction = WakeAction::TriggerRuntime;
        let managed = |way: &&&Way| way.terminal.is_some();
        let ways = self.live(ACTION);
        let way = ways.iter().find(managed).map(|way| (**way).clone())?;
        if self.able.own.as_deref() == Some(way.session.as_str()) {
            return Some(Ladder::take(ACTION, &way));
        }
        // It may be put off while a person types; only then does its supervisor report.
        if self.age() < ANYBODY * 2 {
            return Some(self.leave(ACTION, OWN));
        }
        self.miss(
            ACTION,
            Some(&way.session),
            "its supervisor did not take the job",
        );
        None
    }

    fn resume(&mut self) -> Option<Next> {
        const ACTION: WakeAction = WakeAction::ResumeSession;
        if let Some(live) = self.ways.iter().find(|way| way.alive) {
            let session = live.session.clone();
            let why = "a live process holds its session, and two would corrupt it";
            self.miss(ACTION, Some(&session), why);
            return None;
        }
        let ended: Vec<Way> = self
            .ways
            .iter()
            .filter(|way| way.resumable)
            .cloned()
            .collect();
        for way in &ended {
            if self.job.failures(ACTION, Some(&way.session)) > 0 {
                continue;
            }
            if way.here && self.able.resumes.contains(&way.client) {
                return Some(if self.able.full {
                    self.leave(ACTION, AGAIN)
                } else {
                    Ladder::take(ACTION, way)
                });
            }
            if self.age() < ANYBODY {
                return Some(self.leave(ACTION, AGAIN));
            }
            let why = if way.here {
                "your settings list no command that resumes it"
            } else {
                "no worker on its machine took the job"
            };
            self.miss(ACTION, Some(&way.session), why);
        }
        if ended.is_empty() {
            self.miss(
                ACTION,
                None,
                "no session of it is known that can be resumed",
            );
        }
        None
    }

    fn start(&mut self) -> Option<Next> {
        const ACTION: WakeAction = WakeAction::SpawnSession;
        if self.ways.iter().any(|way| way.alive) {
            return None;
        }
        if self.job.failures(ACTION, None) > 0 {
            return None;
        }
        let mut before = self.ways.iter().map(|way| &way.client);
        let known = before.find(|client| self.able.starts.contains(client));
        // The target may be named after its client and never have been here.
        let mut named = self.able.starts.iter();
        let named = named.find(|client| is_named_after(&self.job.target, client));
        let Some(client) = known.or(named).cloned() else {
            // A worker of another machine may have one listed.
            if self.age() < ANYBODY && !(self.able.decides && self.able.alone) {
                return Some(self.leave(ACTION, AGAIN));
            }
            let why = "your settings list no command that begins a session of it";
            self.miss(ACTION, None, why);
            return None;
        };
        if self.able.full {
            return Some(self.leave(ACTION, AGAIN));
        }
        Some(Next::Take {
            action: ACTION,
            way: self.ways.iter().find(|way| way.here).cloned(),
            client: Some(client),
        })
    }

    /// Nothing is left that this worker can do.
    fn give_up(&self) -> Next {
        if self.able.decides {
            Next::Failed
        } else {
            self.leave(self.job.action, ANYBODY)
        }
    }
}

/// Whether an agent has a client's name, with or without a number.
fn is_named_after(agent: &str, client: &str) -> bool {
    let rest = agent.strip_prefix(client);
    rest.is_some_and(|rest| {
        let number = rest.strip_prefix('-');
        rest.is_empty()
            || number.is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            })
    })
}

#[cfg(test)]
#[path = "ladder/tests.rs"]
mod tests;
