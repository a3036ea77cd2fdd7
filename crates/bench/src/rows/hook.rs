//! A hook that has nothing to tell: what a client waits for at every prompt.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::in_turns;
use crate::stores;
use crate::table::Line;

/// What a prompt may wait for a hook, in seconds.
const MOST: f64 = 0.050;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let (kept, store) = (stores::with_nodes(bench, 10_000)?, bench.file("hook.db"));
    stores::copy(&kept, &store)?;
    let mut turn = 0;
    let mut fire = |event: &str, name: &str| -> Outcome<Duration> {
        turn += 1;
        let input = json!({
            "session_id": "chat", "transcript_path": "/t", "cwd": "/", "hook_event_name": name,
            "prompt_id": turn.to_string(), "source": "startup",
        });
        let begun = Instant::now();
        let mut hook = bench
            .hook(&store, event)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        let mut stdin = hook.stdin.take().ok_or("no standard input")?;
        stdin.write_all(input.to_string().as_bytes())?;
        drop(stdin);
        match hook.wait()?.success() {
            true => Ok(begun.elapsed()),
            false => Err("a hook failed".into()),
        }
    };
    fire("session-start", "SessionStart")?;
    let samples = in_turns(
        bench.pace(80, 1),
        &mut [&mut || fire("prompt", "UserPromptSubmit")],
    )?;
    let [ours] = samples.as_slice() else {
        return Err("sides".into());
    };
    Ok(vec![
        Line::times("hook prompt with nothing unread, p50", ours.p50(), MOST).at_most(1.0),
        Line::times("… p99", ours.p99(), MOST),
    ])
}
