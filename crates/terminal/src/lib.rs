//! A program in a terminal of its own, transparent to the person in front of it, into which a text
//! can be delivered while the program waits for one.
//!
//! Three rules stand above the rest: a line that a person has begun is never touched, a question that
//! a key would answer is never answered, and whatever is in doubt is not done. This crate knows
//! nothing of stores and agents: it takes texts and says what became of them.

// Elsewhere, programs run without a terminal of their own.
#![cfg_attr(not(unix), allow(dead_code))]

mod delivery;
mod headless;
mod policy;
mod profile;
mod program;
mod reading;
mod screen;
mod text;
mod typing;

#[cfg(unix)]
mod deliver;
#[cfg(unix)]
mod leader;
#[cfg(unix)]
mod link;
#[cfg(unix)]
mod pty;
#[cfg(unix)]
mod supervisor;

use std::io::IsTerminal;
use std::sync::mpsc::Sender;

pub use self::delivery::{Delivery, Doing, Ended, Event, Inbox, Outcome, Remote, Stage, remote};
#[cfg(unix)]
pub use self::leader::lead;
pub use self::policy::{Policy, Reason};
pub use self::profile::{Composer, Profile};
pub use self::program::{Error, Program};
pub use self::text::Refusal;

/// Whether a program gets a terminal of its own, into which a text can be delivered.
pub fn has_terminal() -> bool {
    cfg!(unix) && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Runs a program until it ends, and gives its exit code (128 and the signal if one ended it).
///
/// With a terminal on both sides, the program gets one of its own, into which `inbox` delivers.
/// Otherwise it has our streams, and every delivery is refused.
pub fn run(
    program: &Program,
    policy: Policy,
    inbox: Inbox,
    outcomes: Sender<Outcome>,
) -> Result<u8, Error> {
    #[cfg(unix)]
    if has_terminal() {
        return supervisor::run(program, policy, inbox, outcomes);
    }
    #[cfg(not(unix))]
    let _ = policy;
    headless::run(program, inbox, outcomes)
}
