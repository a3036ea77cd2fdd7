//! Gemini CLI's hooks: events of its own, and `deny` where others say `block`.

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
    timestamp: Option<String>,
    source: Option<String>,
    prompt: Option<String>,
    prompt_response: Option<String>,
    stop_hook_active: Option<bool>,
    reason: Option<String>,
}

fn is(event: Event, name: &str) -> bool {
    matches!(
        (event, name),
        (Event::SessionStart, "SessionStart")
            | (Event::Prompt, "BeforeAgent")
            | (Event::Stop, "AfterAgent")
            | (Event::PreCompact, "PreCompress")
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
            self.timestamp.as_deref().unwrap_or_default(),
            self.source.as_deref().unwrap_or_default(),
            self.prompt.as_deref().unwrap_or_default(),
            self.prompt_response.as_deref().unwrap_or_default(),
            if continues { "continues" } else { "" },
        ]);
        Some(Fired {
            client: Client::Gemini,
            event,
            name: self.hook_event_name,
            session: self.session_id,
            folder: self.cwd,
            address: None,
            turn: None,
            hash,
            source: Source::parse(self.source.as_deref()),
            cleared: self.reason.as_deref() == Some("clear"),
        })
    }
}
