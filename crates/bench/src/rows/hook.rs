//! What a client waits for at each moment of a chat: its hooks, on a store with 10,000 items and with nothing
//! unread.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;
use crate::bench::Bench;
use crate::chat::Chat;
use crate::measure::in_turns;
use crate::stores;
use crate::table::Line;

/// What a client may wait for a hook, in seconds.
const MOST: f64 = 0.050;

/// A hook as it is called here and by Claude Code, and what that tells it.
struct Moment {
    event: &'static str,
    name: &'static str,
    more: Value,
}

impl Moment {
    fn all() -> [Moment; 5] {
        let moment = |event, name, more| Moment { event, name, more };
        let said = json!({ "stop_hook_active": false, "last_assistant_message": "Done." });
        [
            moment(
                "session-start",
                "SessionStart",
                json!({ "source": "startup" }),
            ),
            moment(
                "prompt",
                "UserPromptSubmit",
                json!({ "prompt": "Go on", "prompt_id": "1" }),
            ),
            moment("stop", "Stop", said),
            moment("pre-compact", "PreCompact", json!({ "trigger": "auto" })),
            moment("session-end", "SessionEnd", json!({ "reason": "other" })),
        ]
    }
}

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let (kept, store) = (stores::with_nodes(bench, 10_000)?, bench.file("hook.db"));
    stores::copy(&kept, &store)?;
    let moments = Moment::all();
    let [begin, ..] = &moments;
    let mut chats = 0;
    // Each in a chat of its own, because an event is answered once for each turn.
    let mut fire = |moment: &Moment| -> Outcome<Duration> {
        chats += 1;
        let chat = Chat::claude(bench, &store, &format!("chat-{chats}"))?;
        if moment.event != begin.event {
            chat.fire(begin.event, begin.name, &begin.more)?;
        }
        let begun = Instant::now();
        chat.fire(moment.event, moment.name, &moment.more)?;
        Ok(begun.elapsed())
    };
    let mut lines = Vec::new();
    for moment in &moments {
        let samples = in_turns(bench.pace(40, 1), &mut [&mut || fire(moment)])?;
        let [ours] = samples.as_slice() else {
            return Err("sides".into());
        };
        let what = format!("hook {}, 10,000 items, p50", moment.event);
        lines.push(Line::times(what, ours.p50(), MOST).at_most(1.0));
        lines.push(Line::times("… p99", ours.p99(), MOST));
    }
    Ok(lines)
}
