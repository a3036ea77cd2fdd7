//! opencode's hooks. It has plugins and no hook commands, so both sides of this form are ours: the
//! plugin that `understory hook config opencode` prints writes and reads it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Client;
use crate::hook::event::{Event, Fired, Said, Source};

/// What the plugin writes.
#[derive(Debug, Deserialize)]
pub struct Input {
    /// As our command line names it.
    event: String,
    session_id: String,
    cwd: Option<PathBuf>,
    /// Where the plugin takes prompts for the chat.
    address: Option<String>,
    /// The message that is answered in the turn.
    turn_id: Option<String>,
    source: Option<String>,
}

impl Input {
    pub fn fired(self, event: Event) -> Option<Fired> {
        if event == Event::Wake || self.event != event.as_str() {
            return None;
        }
        let hash = Fired::hash(&[
            &self.session_id,
            self.turn_id.as_deref().unwrap_or_default(),
            self.source.as_deref().unwrap_or_default(),
        ]);
        Some(Fired {
            client: Client::Opencode,
            event,
            name: self.event,
            session: self.session_id,
            folder: self.cwd,
            address: self.address,
            turn: self.turn_id.filter(|_| event == Event::Prompt),
            hash,
            source: Source::parse(self.source.as_deref()),
            cleared: false,
        })
    }
}

/// What the plugin reads.
#[derive(Debug, Serialize)]
struct Output<'a> {
    context: &'a str,
}

pub fn output(said: &Said) -> Option<String> {
    // It cannot make a turn go on: the process beside the chat begins another.
    let Said::Facts(context) = said else {
        return None;
    };
    serde_json::to_string(&Output { context }).ok()
}
