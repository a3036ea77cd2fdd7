//! The settings that make a client run our hooks, to be pasted.

use std::collections::BTreeMap;

use serde::Serialize;
use understory_model::shell;

/// Seconds for a hook that answers, and for one that waits as long as the chat is open.
const ANSWERS: u64 = 10;
const WAITS: u64 = 30 * 24 * 3_600;

/// A client whose settings can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Claude,
    Codex,
    Gemini,
}

impl Target {
    pub fn parse(text: &str) -> Option<Target> {
        match text {
            "claude" | "claude-code" => Some(Target::Claude),
            "codex" => Some(Target::Codex),
            "gemini" => Some(Target::Gemini),
            _ => None,
        }
    }

    /// The file that they belong in.
    pub fn file(self) -> &'static str {
        match self {
            Target::Claude => "~/.claude/settings.json",
            Target::Codex => "~/.codex/hooks.json",
            Target::Gemini => "~/.gemini/settings.json",
        }
    }

    /// What it calls the events that we answer.
    fn events(self) -> [(&'static str, &'static str); 5] {
        match self {
            Target::Claude | Target::Codex => [
                ("SessionStart", "session-start"),
                ("UserPromptSubmit", "prompt"),
                ("Stop", "stop"),
                ("PreCompact", "pre-compact"),
                ("SessionEnd", "session-end"),
            ],
            Target::Gemini => [
                ("SessionStart", "session-start"),
                ("BeforeAgent", "prompt"),
                ("AfterAgent", "stop"),
                ("PreCompress", "pre-compact"),
                ("SessionEnd", "session-end"),
            ],
        }
    }
}

#[derive(Debug, Serialize)]
struct Settings {
    hooks: BTreeMap<&'static str, [Group; 1]>,
}

#[derive(Debug, Serialize)]
struct Group {
    hooks: Vec<Hook>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Hook {
    #[serde(rename = "type")]
    kind: &'static str,
    command: String,
    timeout: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    async_rewake: bool,
}

/// The settings, with the program at this path.
pub fn settings(target: Target, program: &str) -> String {
    let hook = |event: &'static str, waits: bool| {
        let mut words = vec![program, "hook", event];
        match target {
            // It is known by its environment; other clients read its settings, too.
            Target::Claude => {}
            Target::Codex => words.extend(["--client", "codex"]),
            Target::Gemini => words.extend(["--client", "gemini"]),
        }
        let seconds = if waits { WAITS } else { ANSWERS };
        Hook {
            kind: "command",
            command: shell::line(words),
            // Gemini counts milliseconds.
            timeout: seconds * if target == Target::Gemini { 1_000 } else { 1 },
            async_rewake: waits,
        }
    };
    let mut hooks = BTreeMap::new();
    for (name, event) in target.events() {
        let mut all = vec![hook(event, false)];
        if target == Target::Claude && matches!(event, "session-start" | "stop") {
            all.push(hook("wake", true));
        }
        hooks.insert(name, [Group { hooks: all }]);
    }
    serde_json::to_string_pretty(&Settings { hooks }).unwrap_or_default()
}
