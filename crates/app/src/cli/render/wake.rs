//! What became of waking somebody, in words.

use understory_engine::threads::wakes::Waking;
use understory_model::thread::WakeResult;

use crate::cli::text::{Style, Text};
use crate::cli::when::Clock;

/// `deferred until 12:04:05 (human input busy)`
pub fn result(clock: &Clock, one: &Waking) -> Text {
    let style = match one.result {
        WakeResult::Read | WakeResult::NotNeeded => Style::Good,
        WakeResult::Failed => Style::Bad,
        WakeResult::Queued | WakeResult::Deferred | WakeResult::Delivered => Style::Plain,
    };
    let shown = Text::new().add(style, one.result.as_str().replace('_', " "));
    let shown = match one.deferred_until {
        Some(until) => shown.plain(format!(" until {}", clock.clock(until))),
        None => shown,
    };
    match one.defer_reason {
        Some(reason) => shown.dim(format!(" ({})", reason.as_str().replace('_', " "))),
        None => shown,
    }
}

/// `in session: codex queue`
pub fn step(one: &Waking) -> String {
    let action = one.action.as_str().replace('_', " ");
    match one.channel {
        Some(channel) => format!("{action}: {}", channel.as_str().replace('_', " ")),
        None => action,
    }
}

/// A job that somebody still waits for, or that failed, below the thread that it is for.
pub fn below_thread(clock: &Clock, one: &Waking) -> Option<Text> {
    if matches!(one.result, WakeResult::Read | WakeResult::NotNeeded) {
        return None;
    }
    let line = Text::new().plain("  ").name(&one.wake_id);
    let line = line.plain(format!("  {}  ", one.target_agent_id));
    let line = line
        .then(result(clock, one))
        .plain(format!("  {}", step(one)));
    Some(match one.tried.last() {
        Some(tried) => line.dim(format!("  {}", tried.why)),
        None => line,
    })
}
