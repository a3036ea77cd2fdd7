//! Codex's hooks: Claude Code's forms, with a name for every turn. It reads what Claude Code reads.

use std::path::PathBuf;

use serde::Deserialize;

use super::Client;
use crate::hook::event::{Event, Fired, Source};

/// What it writes.
#[derive(Debug, Deserialize)]
pub struct Input {
    session_id: String,
    cwd: Option<PathBuf>,
    hook_event_name: String,
    turn_id: Option<String>,
    source: Option<String>,
    prompt: Option<String>,
    stop_hook_active: Option<bool>,
    last_assistant_message: Option<String>,
    trigger: Option<String>,
    reason: Option<String>,
}

fn is(event: Event, name: &str) -> bool {
    matches!(
        (event, name),
        (Event::SessionStart, "SessionStart")
            | (Event::Prompt, "UserPromptSubmit")
            | (Event::Stop, "Stop")
            | (Event::PreCompact, "PreCompact")
            | (Event::SessionEnd, "SessionEnd")
    )
}

impl Input {
    pub fn fired(self, event: Event) -> Option<Fired> {
        if !is(event, &self.hook_event_name) {
            return None;
        }
        let continues = self.stop_hook_active.unwrap_or_default();
        let hash = Fired::hash(&[
            &self.session_id,
            self.source.as_deref().unwrap_or_default(),
            self.turn_id.as_deref().unwrap_or_default(),
            self.prompt.as_deref().unwrap_or_default(),
            self.last_assistant_message.as_deref().unwrap_or_default(),
            self.trigger.as_deref().unwrap_or_default(),
            if continues { "continues" } else { "" },
        ]);
        Some(Fired {
            client: Client::Codex,
            event,
            name: self.hook_event_name,
            session: self.session_id,
            folder: self.cwd,
            address: None,
            turn: self.turn_id.filter(|_| event == Event::Prompt),
            hash,
            source: Source::parse(self.source.as_deref()),
            cleared: self.reason.as_deref() == Some("clear"),
        })
    }
}
