//! The hooks of Copilot's command line and of VS Code: their own names in camel case, or those of
//! Claude Code, whose settings they read too.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Client;
use crate::hook::event::{Event, Fired, Said, Source};

/// What it writes. Under its own names an event is not named.
#[derive(Debug, Deserialize)]
pub struct Input {
    #[serde(alias = "sessionId")]
    session_id: String,
    cwd: Option<PathBuf>,
    hook_event_name: Option<String>,
    /// A text or a number.
    timestamp: Option<serde_json::Value>,
    source: Option<String>,
    prompt: Option<String>,
    #[serde(alias = "stopHookActive")]
    stop_hook_active: Option<bool>,
    reason: Option<String>,
}

fn is(event: Event, name: &str) -> bool {
    matches!(
        (event, name),
        (Event::SessionStart, "SessionStart" | "sessionStart")
            | (Event::Prompt, "UserPromptSubmit" | "userPromptSubmitted")
            | (Event::Stop, "Stop" | "agentStop")
            | (Event::PreCompact, "PreCompact" | "preCompact")
            | (Event::SessionEnd, "SessionEnd" | "sessionEnd")
    )
}

impl Input {
    pub fn fired(self, client: Client, event: Event) -> Option<Fired> {
        let name = self.hook_event_name.unwrap_or_default();
        if event == Event::Wake || !(name.is_empty() || is(event, &name)) {
            return None;
        }
        let continues = self.stop_hook_active.unwrap_or_default();
        let moment = self.timestamp.unwrap_or_default().to_string();
        let hash = Fired::hash(&[
            &self.session_id,
            &moment,
            self.source.as_deref().unwrap_or_default(),
            self.prompt.as_deref().unwrap_or_default(),
            if continues { "continues" } else { "" },
        ]);
        Some(Fired {
            client,
            event,
            name,
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

/// What it reads. The command line takes facts and a decision only without the event's name, VS Code
/// a decision only beside it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Output<'a> {
    #[serde(rename_all = "camelCase")]
    Facts { additional_context: &'a str },
    #[serde(rename_all = "camelCase")]
    Block {
        #[serde(skip_serializing_if = "Option::is_none")]
        hook_specific_output: Option<Named<'a>>,
        decision: Decision,
        reason: &'a str,
    },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Named<'a> {
    hook_event_name: &'a str,
    decision: Decision,
    reason: &'a str,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Block,
}

pub fn output(fired: &Fired, said: &Said) -> Option<String> {
    let decision = Decision::Block;
    let named = |reason| Named {
        hook_event_name: &fired.name,
        decision,
        reason,
    };
    let output = match said {
        Said::Nothing => return None,
        Said::Facts(text) => Output::Facts {
            additional_context: text,
        },
        Said::GoOn(reason) => Output::Block {
            hook_specific_output: (fired.name == "Stop").then(|| named(reason)),
            decision,
            reason,
        },
    };
    serde_json::to_string(&output).ok()
}
