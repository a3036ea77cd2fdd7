//! What is asked of a running terminal from outside, and what becomes of it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::policy::Reason;
use crate::text::Refusal;

/// A text for the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub id: u64,
    pub text: String,
    /// Deliver it although a line is half typed, which is then submitted with it.
    pub force: bool,
}

/// News about a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub id: u64,
    pub event: Event,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It waits, and is tried again then.
    Deferred { reason: Reason, until: Instant },
    /// The program took it.
    Delivered,
    /// It was not delivered, and nothing was typed.
    GaveUp { reason: Reason },
    /// It cannot be delivered, and nothing was typed.
    Refused { why: Refusal },
    /// It was typed and may still stand there. It is not typed again.
    Stranded { at: Stage },
}

/// How far a delivery came that is stranded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The text did not appear, so it was not submitted.
    NotShown,
    /// A question appeared, which the Return would have answered.
    DialogOpened,
    /// It was submitted, but did not leave the composer.
    NotSubmitted,
    /// The program ended meanwhile.
    ProgramEnded,
}

/// What goes on in a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// A text could be delivered.
    Idle,
    /// The program works, or shows no place for a line.
    Busy,
    /// A line is half typed, or a key was pressed a moment ago.
    Typing,
    Dialog,
}

pub(crate) enum Message {
    Deliver(Delivery, Instant),
    Look(Sender<Doing>),
    End,
}

/// The side of a terminal that others use.
#[derive(Debug, Clone)]
pub struct Remote(Sender<Message>);

/// The side of a terminal that it reads itself.
#[derive(Debug)]
pub struct Inbox {
    pub(crate) messages: Receiver<Message>,
    pub(crate) end: Remote,
}

/// The two sides of what is asked of a terminal.
pub fn remote() -> (Remote, Inbox) {
    let (sender, messages) = channel();
    let remote = Remote(sender);
    let end = remote.clone();
    (remote, Inbox { messages, end })
}

/// The program has ended, and nobody reads any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the program in the terminal has ended")]
pub struct Ended;

impl Remote {
    /// Asks for a delivery. Its outcomes come over the channel that was given to [`crate::run`].
    pub fn deliver(&self, delivery: Delivery) -> Result<(), Ended> {
        self.send(Message::Deliver(delivery, Instant::now()))
    }

    /// What goes on now; `None` if the terminal does not say in time, as during a delivery.
    pub fn look(&self, patience: Duration) -> Option<Doing> {
        let (sender, seen) = channel();
        self.send(Message::Look(sender)).ok()?;
        seen.recv_timeout(patience).ok()
    }

    pub(crate) fn end(&self) {
        // Whoever no longer reads has ended already.
        let _ = self.send(Message::End);
    }

    fn send(&self, message: Message) -> Result<(), Ended> {
        self.0.send(message).map_err(|_| Ended)
    }
}
