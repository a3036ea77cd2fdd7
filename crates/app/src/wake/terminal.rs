//! Types prompts into the managed terminal of the worker's own session, and says what came of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};

use understory_engine::threads::wake::Outcome;
use understory_model::thread::{Channel, DeferReason};
use understory_terminal::{Delivery, Event, Outcome as News, Reason, Remote, Stage};

use super::Failed;

/// The terminal of a session, as its worker uses it.
#[derive(Debug)]
pub struct Terminal {
    remote: Remote,
    news: Mutex<Receiver<News>>,
    next: AtomicU64,
    /// Whether the program reads text, and runs none of it.
    reads_text: bool,
}

impl Terminal {
    pub fn new(remote: Remote, news: Receiver<News>, reads_text: bool) -> Terminal {
        Terminal {
            remote,
            news: Mutex::new(news),
            next: AtomicU64::new(1),
            reads_text,
        }
    }

    /// Whether the words of others may be typed into it. To a shell, words are commands.
    pub fn reads_text(&self) -> bool {
        self.reads_text
    }

    /// Types a text if the program waits for one now.
    pub fn type_in(&self, text: String, force: bool) -> Outcome {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        // One delivery at a time: what is heard is about this one or an earlier one.
        let news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        if self.remote.deliver(Delivery { id, text, force }).is_err() {
            return ended();
        }
        while let Ok(heard) = news.recv() {
            if heard.id == id
                && let Some(outcome) = outcome(&heard.event)
            {
                return outcome;
            }
        }
        ended()
    }
}

/// What came of a delivery; nothing while it is under way.
fn outcome(event: &Event) -> Option<Outcome> {
    let failed = |why: &str| Some(Failed::final_(why).outcome());
    match event {
        Event::Deferred { .. } => None,
        Event::Delivered => Some(Outcome::Delivered {
            channel: Some(Channel::Terminal),
        }),
        Event::GaveUp { reason } => {
            let reason = match reason {
                Reason::HumanInputBusy => DeferReason::HumanInputBusy,
                Reason::DialogOpen => DeferReason::DialogOpen,
                Reason::AgentBusy => DeferReason::AgentBusy,
                Reason::NotAtAPrompt => DeferReason::NotAtPrompt,
                Reason::ProgramEnded => return Some(ended()),
            };
            Some(Outcome::Obstructed { reason })
        }
        Event::Refused { why } => failed(&format!("it cannot be typed: {why}")),
        Event::Stranded { at } => failed(match at {
            Stage::NotShown => "it was typed, but the program did not show it",
            Stage::DialogOpened => "it was typed, and not submitted because a dialog opened",
            Stage::NotSubmitted => "it was typed and submitted, but the program did not take it",
            Stage::ProgramEnded => "the program ended while it was typed",
        }),
    }
}

fn ended() -> Outcome {
    Failed::final_("the program in its terminal has ended").outcome()
}
