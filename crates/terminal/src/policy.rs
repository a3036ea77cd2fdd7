//! When a text may be delivered: a pure function of what is known, the time and the settings.

use std::time::{Duration, Instant};

use crate::reading::State;

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Between two looks at a program that was not ready.
    pub recheck: Duration,
    /// After the person's last key.
    pub quiet: Duration,
    /// From asking until giving up.
    pub patience: Duration,
    /// How long the screen must have stood still.
    pub settle: Duration,
    /// Until a text that was typed appears.
    pub appear: Duration,
    /// Between the text and the Return that submits it. Programs take both at once for a paste.
    pub pause: Duration,
    /// Until a text that was submitted has left the composer.
    pub leave: Duration,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            recheck: Duration::from_secs(5),
            quiet: Duration::from_secs(20),
            patience: Duration::from_secs(60),
            settle: Duration::from_millis(300),
            appear: Duration::from_secs(2),
            pause: Duration::from_millis(150),
            leave: Duration::from_secs(2),
        }
    }
}

/// Why a delivery waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    HumanInputBusy,
    DialogOpen,
    AgentBusy,
    NotAtAPrompt,
    /// The program ended before the delivery could be made.
    ProgramEnded,
}

impl Reason {
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::HumanInputBusy => "human_input_busy",
            Reason::DialogOpen => "dialog_open",
            Reason::AgentBusy => "agent_busy",
            Reason::NotAtAPrompt => "not_at_a_prompt",
            Reason::ProgramEnded => "program_ended",
        }
    }
}

/// What is known when somebody asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub state: State,
    pub half_typed: bool,
    pub last_key: Option<Instant>,
    /// When the screen last changed.
    pub changed: Instant,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Deliver,
    /// Everything is as it should be, but only just: look again then.
    Settle {
        until: Instant,
    },
    Defer {
        reason: Reason,
        until: Instant,
    },
    GiveUp {
        reason: Reason,
    },
}

impl Policy {
    /// What to do now with a delivery that was asked for at `asked`. `force` overrules a line that
    /// is half typed, and nothing else.
    pub fn decide(&self, facts: &Facts, force: bool, asked: Instant, now: Instant) -> Decision {
        let Some(reason) = self.obstacle(facts, force, now) else {
            let until = facts.changed + self.settle;
            return match (now < until, self.expired(asked, now)) {
                (false, _) => Decision::Deliver,
                (true, false) => Decision::Settle { until },
                (true, true) => Decision::GiveUp {
                    reason: Reason::NotAtAPrompt,
                },
            };
        };
        if self.expired(asked, now) {
            return Decision::GiveUp { reason };
        }
        let until = (now + self.recheck).min(asked + self.patience);
        Decision::Defer { reason, until }
    }

    fn expired(&self, asked: Instant, now: Instant) -> bool {
        now.saturating_duration_since(asked) >= self.patience
    }

    /// What stands in the way of a delivery.
    pub fn obstacle(&self, facts: &Facts, force: bool, now: Instant) -> Option<Reason> {
        let recent = facts
            .last_key
            .is_some_and(|last| now.saturating_duration_since(last) < self.quiet);
        match facts.state {
            State::Dialog => Some(Reason::DialogOpen),
            State::Draft if !force => Some(Reason::HumanInputBusy),
            _ if facts.half_typed && !force => Some(Reason::HumanInputBusy),
            State::Busy => Some(Reason::AgentBusy),
            State::Unknown => Some(Reason::NotAtAPrompt),
            State::Idle | State::Draft if recent => Some(Reason::HumanInputBusy),
            State::Idle | State::Draft => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A program at its prompt, a person who never typed, a minute of quiet.
    fn ready(start: Instant) -> Facts {
        Facts {
            state: State::Idle,
            half_typed: false,
            last_key: None,
            changed: start,
        }
    }

    fn policy() -> Policy {
        Policy::default()
    }

    #[test]
    fn an_idle_prompt_is_delivered_to_once_it_has_settled() {
        let start = Instant::now();
        let facts = ready(start);
        let until = start + policy().settle;
        assert_eq!(
            policy().decide(&facts, false, start, start),
            Decision::Settle { until }
        );
        assert_eq!(
            policy().decide(&facts, false, start, until),
            Decision::Deliver
        );
    }

    #[test]
    fn what_stands_in_the_way_is_looked_at_every_five_seconds_for_a_minute() {
        let asked = Instant::now();
        let facts = Facts {
            state: State::Busy,
            ..ready(asked)
        };
        let mut now = asked;
        let mut looks = 0;
        let reason = loop {
            match policy().decide(&facts, false, asked, now) {
                Decision::Defer { until, reason } => {
                    assert_eq!((until - now, reason), (5 * SECOND, Reason::AgentBusy));
                    now = until;
                    looks += 1;
                }
                Decision::GiveUp { reason } => break reason,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            (now - asked, looks, reason),
            (60 * SECOND, 12, Reason::AgentBusy)
        );
    }

    #[test]
    fn the_last_look_is_at_the_end_of_patience() {
        let asked = Instant::now();
        let facts = Facts {
            state: State::Unknown,
            ..ready(asked)
        };
        let now = asked + 58 * SECOND;
        let until = asked + 60 * SECOND;
        let reason = Reason::NotAtAPrompt;
        assert_eq!(
            policy().decide(&facts, false, asked, now),
            Decision::Defer { reason, until }
        );
    }

    #[test]
    fn a_person_who_typed_is_left_alone_for_twenty_seconds() {
        let start = Instant::now();
        let facts = Facts {
            last_key: Some(start),
            ..ready(start)
        };
        let at = |seconds: u32| policy().decide(&facts, false, start, start + seconds * SECOND);
        let reason = Reason::HumanInputBusy;
        assert!(matches!(at(19), Decision::Defer { reason: r, .. } if r == reason));
        assert_eq!(at(20), Decision::Deliver);
    }

    #[test]
    fn force_overrules_a_half_typed_line_only() {
        let start = Instant::now();
        let now = start + 30 * SECOND;
        let decide = |facts: Facts| policy().decide(&facts, true, start, now);
        let base = ready(start);
        let half_typed = true;
        assert_eq!(decide(Facts { half_typed, ..base }), Decision::Deliver);
        let draft = Facts {
            state: State::Draft,
            half_typed,
            ..base
        };
        assert_eq!(decide(draft), Decision::Deliver);
        for (state, expected) in [
            (State::Dialog, Reason::DialogOpen),
            (State::Busy, Reason::AgentBusy),
            (State::Unknown, Reason::NotAtAPrompt),
        ] {
            let decision = decide(Facts {
                state,
                half_typed,
                ..base
            });
            assert!(matches!(decision, Decision::Defer { reason, .. } if reason == expected));
        }
        let typing = Facts {
            last_key: Some(now),
            ..base
        };
        assert!(matches!(decide(typing), Decision::Defer { .. }));
    }

    #[test]
    fn a_dialog_is_the_reason_whatever_else_there_is() {
        let start = Instant::now();
        let facts = Facts {
            state: State::Dialog,
            half_typed: true,
            ..ready(start)
        };
        let decision = policy().decide(&facts, false, start, start + 61 * SECOND);
        let reason = Reason::DialogOpen;
        assert_eq!(decision, Decision::GiveUp { reason });
    }

    #[test]
    fn a_screen_that_never_stands_still_is_given_up_on() {
        let asked = Instant::now();
        let now = asked + 60 * SECOND;
        let facts = ready(now);
        let reason = Reason::NotAtAPrompt;
        assert_eq!(
            policy().decide(&facts, false, asked, now),
            Decision::GiveUp { reason }
        );
    }
}
