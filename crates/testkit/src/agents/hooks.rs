//! Hooks of a test, in the form that Claude Code and Codex share.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};

/// A command that a client runs when something happens to a session.
#[derive(Clone)]
pub struct Hook {
    /// The client's name of what happens: `SessionStart`, `Stop`.
    pub event: &'static str,
    pub command: PathBuf,
    /// Claude Code runs it in the background, and its exit code 2 begins a turn.
    pub wakes: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Handler {
    r#type: &'static str,
    command: String,
    timeout: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    async_rewake: bool,
}

/// As `hooks` in a settings file.
pub fn settings(hooks: &[Hook]) -> Value {
    let mut events = json!({});
    for hook in hooks {
        let handler = Handler {
            r#type: "command",
            command: hook.command.display().to_string(),
            timeout: if hook.wakes { 86_400 } else { 10 },
            async_rewake: hook.wakes,
        };
        let group = json!({"hooks": [handler]});
        match events[hook.event].as_array_mut() {
            Some(groups) => groups.push(group),
            None => events[hook.event] = json!([group]),
        }
    }
    events
}
