//! Cursor's hooks. Only its last one can say something: a message that follows.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Client;
use crate::hook::event::{Event, Fired, Said, Source};

/// What it writes.
#[derive(Debug, Deserialize)]
pub struct Input {
    conversation_id: String,
    generation_id: Option<String>,
    hook_event_name: String,
    #[serde(default)]
    workspace_roots: Vec<PathBuf>,
    loop_count: Option<i64>,
    status: Option<String>,
}

fn is(event: Event, name: &str) -> bool {
    matches!(
        (event, name),
        (Event::SessionStart, "sessionStart")
            | (Event::Prompt, "beforeSubmitPrompt")
            | (Event::Stop, "stop")
            | (Event::PreCompact, "preCompact")
            | (Event::SessionEnd, "sessionEnd")
    )
}

impl Input {
    pub fn fired(self, event: Event) -> Option<Fired> {
        if !is(event, &self.hook_event_name) {
            return None;
        }
        // Somebody ended the turn, or it failed: nobody goes on by itself.
        let ended = self.status.as_deref().unwrap_or("completed") != "completed";
        if event == Event::Stop && ended {
            return None;
        }
        let round = self.loop_count.unwrap_or_default();
        let hash = Fired::hash(&[
            &self.conversation_id,
            self.generation_id.as_deref().unwrap_or_default(),
            &round.to_string(),
        ]);
        Some(Fired {
            client: Client::Cursor,
            event,
            name: self.hook_event_name,
            session: self.conversation_id,
            folder: self.workspace_roots.into_iter().next(),
            address: None,
            turn: self.generation_id.filter(|_| event == Event::Prompt),
            hash,
            source: Source::Startup,
            cleared: false,
        })
    }
}

/// What it reads.
#[derive(Debug, Serialize)]
struct Output<'a> {
    followup_message: &'a str,
}

pub fn output(said: &Said) -> Option<String> {
    let Said::GoOn(followup_message) = said else {
        return None;
    };
    serde_json::to_string(&Output { followup_message }).ok()
}
