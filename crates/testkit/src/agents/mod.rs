//! The real Claude Code, Codex and opencode in tests: behind walls, and with a fake model that a test scripts.
//!
//! A test starts a [`Lab`], writes what its clients should do as the prompt, and looks at the store, the
//! screen, the processes and what the model was told.

mod anthropic;
mod chat;
mod claude;
mod codex;
mod fake_model;
mod hooks;
mod lab;
mod opencode;
mod responses;
mod script;
mod tmux;
mod walls;

use std::thread;
use std::time::{Duration, Instant};

pub use claude::{Claude, Session, Status};
pub use codex::Codex;
pub use fake_model::{Asked, FakeModel, serve};
pub use hooks::Hook;
pub use lab::{Ended, Lab};
pub use opencode::Opencode;
pub use tmux::{Pane, Tmux};
pub use walls::{Process, Walls};

/// How long anything may take that a client does by itself. Tests are not about speed: this only bounds
/// how long a failing one hangs.
pub const PATIENCE: Duration = Duration::from_secs(45);

/// Asks again and again until there is an answer, and fails when there is none in time.
#[track_caller]
pub fn wait_until<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    wait_until_for(PATIENCE, ask).unwrap_or_else(|| panic!("in vain waited until {what}"))
}

fn wait_until_for<T>(patience: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let answer = ask();
        if answer.is_some() || start.elapsed() > patience {
            return answer;
        }
        thread::sleep(Duration::from_millis(50));
    }
}
