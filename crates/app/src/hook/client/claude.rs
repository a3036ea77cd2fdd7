//! Claude Code's hooks. Codex, Copilot and others took over its forms.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Client;
use crate::hook::event::{Event, Fired, Said, Source};

/// What it writes.
#[derive(Debug, Deserialize)]
pub struct Input {
    session_id: String,
    cwd: Option<PathBuf>,
    hook_event_name: String,
    /// Of a subagent, whose hooks are not the chat's.
    agent_id: Option<String>,
    prompt_id: Option<String>,
    source: Option<String>,
    prompt: Option<String>,
    stop_hook_active: Option<bool>,
    last_assistant_message: Option<String>,
    trigger: Option<String>,
    reason: Option<String>,
}

/// The event that it means; a hook that waits runs at two of them.
fn is(event: Event, name: &str) -> bool {
    matches!(
        (event, name),
        (Event::SessionStart | Event::Wake, "SessionStart")
            | (Event::Prompt, "UserPromptSubmit")
            | (Event::Stop | Event::Wake, "Stop")
            | (Event::PreCompact, "PreCompact")
            | (Event::SessionEnd, "SessionEnd")
    )
}

impl Input {
    pub fn fired(self, event: Event) -> Option<Fired> {
        if !is(event, &self.hook_event_name) || self.agent_id.is_some() {
            return None;
        }
        let continues = self.stop_hook_active.unwrap_or_default();
        let hash = Fired::hash(&[
            &self.session_id,
            self.source.as_deref().unwrap_or_default(),
            self.prompt.as_deref().unwrap_or_default(),
            self.prompt_id.as_deref().unwrap_or_default(),
            self.last_assistant_message.as_deref().unwrap_or_default(),
            self.trigger.as_deref().unwrap_or_default(),
            if continues { "continues" } else { "" },
        ]);
        Some(Fired {
            client: Client::Claude,
            event,
            name: self.hook_event_name,
            session: self.session_id,
            folder: self.cwd,
            address: None,
            // One turn may stop several times, because hooks made it go on.
            turn: self.prompt_id.filter(|_| event == Event::Prompt),
            hash,
            source: Source::parse(self.source.as_deref()),
            cleared: self.reason.as_deref() == Some("clear"),
        })
    }
}

/// What it reads, and Codex and Gemini CLI too.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Output<'a> {
    #[serde(rename_all = "camelCase")]
    Facts {
        hook_specific_output: Facts<'a>,
    },
    GoOn {
        decision: Decision,
        reason: &'a str,
    },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// The word by which a client goes on instead of stopping.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    Block,
    Deny,
}

pub fn output(fired: &Fired, said: &Said, decision: Decision) -> Option<String> {
    let output = match said {
        Said::Nothing => return None,
        Said::Facts(text) => Output::Facts {
            hook_specific_output: Facts {
                hook_event_name: &fired.name,
                additional_context: text,
            },
        },
        Said::GoOn(reason) => Output::GoOn { decision, reason },
    };
    serde_json::to_string(&output).ok()
}
