//! Delivers texts, one at a time: waits for the moment, types, makes sure that the text is there,
//! submits it, and makes sure that it was taken.
//!
//! What it sends is text, the marks around a paste and Return: never Escape as a key, never Ctrl-C.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

use crate::delivery::{Delivery, Doing, Event, Message, Outcome, Stage};
use crate::link::{Hold, Link};
use crate::policy::{Decision, Facts, Policy, Reason};
use crate::profile::Profile;
use crate::reading::{Presence, Reading, State, tail};
use crate::screen::Screen;
use crate::text::{Reader, clean, typed};

struct Waiting {
    delivery: Delivery,
    asked: Instant,
    look_at: Instant,
}

pub struct Deliverer<'a> {
    link: &'a Link,
    profile: Profile,
    policy: Policy,
    outcomes: Sender<Outcome>,
    waiting: VecDeque<Waiting>,
}

impl<'a> Deliverer<'a> {
    pub fn new(
        link: &'a Link,
        profile: Profile,
        policy: Policy,
        outcomes: Sender<Outcome>,
    ) -> Deliverer<'a> {
        Deliverer {
            link,
            profile,
            policy,
            outcomes,
            waiting: VecDeque::new(),
        }
    }

    /// Delivers what is asked for until the end, and then says what was not delivered.
    pub fn run(mut self, messages: &Receiver<Message>) {
        loop {
            match self.next(messages) {
                Some(Message::Deliver(delivery, asked)) => self.waiting.push_back(Waiting {
                    delivery,
                    asked,
                    look_at: asked,
                }),
                Some(Message::Look(seen)) => {
                    // Whoever asked may have given up.
                    let _ = seen.send(self.doing());
                }
                Some(Message::End) => break,
                None => {}
            }
            self.look();
        }
        let reason = Reason::ProgramEnded;
        let unseen = messages.try_iter().filter_map(|message| match message {
            Message::Deliver(delivery, _) => Some(delivery.id),
            _ => None,
        });
        let waiting = self.waiting.iter().map(|waiting| waiting.delivery.id);
        for id in waiting.chain(unseen) {
            self.report(id, Event::GaveUp { reason });
        }
    }

    /// The next message, or nothing when it is time to look at the program.
    fn next(&self, messages: &Receiver<Message>) -> Option<Message> {
        let Some(first) = self.waiting.front() else {
            return Some(messages.recv().unwrap_or(Message::End));
        };
        let time = first.look_at.saturating_duration_since(Instant::now());
        match messages.recv_timeout(time) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Message::End),
        }
    }

    /// Tries the deliveries whose time has come, in order.
    fn look(&mut self) {
        while !self.link.ended()
            && let Some(first) = self.waiting.front()
            && first.look_at <= Instant::now()
            && let Some(waiting) = self.waiting.pop_front()
        {
            let id = waiting.delivery.id;
            match self.attempt(&waiting) {
                Attempt::Done(event) => self.report(id, event),
                Attempt::Again(until, event) => {
                    if let Some(event) = event {
                        self.report(id, event);
                    }
                    let look_at = until;
                    self.waiting.push_front(Waiting { look_at, ..waiting });
                }
            }
        }
    }

    fn report(&self, id: u64, event: Event) {
        // Whoever does not listen to outcomes does not need them.
        let _ = self.outcomes.send(Outcome { id, event });
    }

    /// Decides, and delivers if that is the decision. The person's keys wait from before the
    /// decision on, so nothing is typed between it and the delivery.
    fn attempt(&self, waiting: &Waiting) -> Attempt {
        let hold = self.link.hold();
        let now = Instant::now();
        let facts = self.facts(&hold, now);
        let Delivery { force, text, .. } = &waiting.delivery;
        match self.policy.decide(&facts, *force, waiting.asked, now) {
            Decision::Deliver => Attempt::Done(self.deliver(&hold, text)),
            Decision::Settle { until } => Attempt::Again(until, None),
            Decision::GiveUp { reason } => Attempt::Done(Event::GaveUp { reason }),
            Decision::Defer { reason, until } => {
                Attempt::Again(until, Some(Event::Deferred { reason, until }))
            }
        }
    }

    fn doing(&self) -> Doing {
        let hold = self.link.hold();
        let now = Instant::now();
        let facts = self.facts(&hold, now);
        match self.policy.obstacle(&facts, false, now) {
            None => Doing::Idle,
            Some(Reason::HumanInputBusy) => Doing::Typing,
            Some(Reason::DialogOpen) => Doing::Dialog,
            Some(Reason::AgentBusy | Reason::NotAtAPrompt | Reason::ProgramEnded) => Doing::Busy,
        }
    }

    fn facts(&self, hold: &Hold<'_>, now: Instant) -> Facts {
        let tty = self.link.tty();
        let seen = self.link.with_screen(Screen::seen);
        let (half_typed, last_key) =
            hold.with_typing(|typing| (typing.half_typed(now), typing.last_key()));
        let state = seen.as_ref().map_or(State::Unknown, |seen| {
            Reading::new(&self.profile, seen, tty).state()
        });
        Facts {
            state,
            half_typed,
            last_key,
            changed: seen.map_or(now, |seen| seen.changed),
        }
    }

    fn deliver(&self, hold: &Hold<'_>, text: &str) -> Event {
        let text = clean(text);
        let tty = self.link.tty();
        let reader = Reader {
            brackets: self
                .link
                .with_screen(|screen| screen.seen().is_some_and(|seen| seen.brackets)),
            canonical: tty.canonical,
        };
        let bytes = match typed(&text, reader, &self.profile) {
            Ok(bytes) => bytes,
            Err(why) => return Event::Refused { why },
        };
        match self.submit(hold, &bytes, &tail(&text)) {
            Ok(()) => {
                hold.with_typing(|typing| typing.submitted());
                Event::Delivered
            }
            Err(_) if self.link.ended() => Event::Stranded {
                at: Stage::ProgramEnded,
            },
            Err(at) => Event::Stranded { at },
        }
    }

    fn submit(&self, hold: &Hold<'_>, bytes: &[u8], tail: &str) -> Result<(), Stage> {
        let gone = |_: io::Error| Stage::ProgramEnded;
        let Some((_, before)) = self.link.with_screen(|screen| self.presence(screen, tail)) else {
            return Err(Stage::NotShown);
        };
        hold.write(bytes).map_err(gone)?;
        self.appears(&before, tail)?;
        self.link.wait_until(self.policy.pause, |_| false);
        // A question may have come up meanwhile. Its answer would be the Return.
        let (reading, shown) = self.appears(&before, tail)?;
        let was_busy = reading.busy();
        hold.write(b"\r").map_err(gone)?;
        let left = |screen: &Screen| {
            let now = self.presence(screen, tail);
            now.is_some_and(|(reading, now)| now.gone(&shown) || (reading.busy() && !was_busy))
        };
        if self.link.wait_until(self.policy.leave, left) {
            Ok(())
        } else {
            Err(Stage::NotSubmitted)
        }
    }

    /// Waits until the text is where it was typed, and no question is.
    fn appears(&self, before: &Presence, tail: &str) -> Result<(Reading, Presence), Stage> {
        let asks = |reading: &Reading| reading.state() == State::Dialog;
        self.link.wait_until(self.policy.appear, |screen| {
            self.presence(screen, tail)
                .is_some_and(|(reading, now)| asks(&reading) || now.appeared(before))
        });
        let now = self.link.with_screen(|screen| self.presence(screen, tail));
        match now {
            Some((reading, _)) if asks(&reading) => Err(Stage::DialogOpened),
            Some((reading, now)) if now.appeared(before) => Ok((reading, now)),
            _ => Err(Stage::NotShown),
        }
    }

    fn presence(&self, screen: &Screen, tail: &str) -> Option<(Reading, Presence)> {
        let seen = screen.seen()?;
        let reading = Reading::new(&self.profile, &seen, self.link.tty());
        let presence = Presence::new(&self.profile, &seen, &reading, tail);
        Some((reading, presence))
    }
}

enum Attempt {
    Done(Event),
    Again(Instant, Option<Event>),
}
