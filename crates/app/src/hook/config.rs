//! What makes a client run our hooks, to be pasted: settings, and a plugin for opencode.

use std::collections::BTreeMap;

use serde::Serialize;
use understory_model::shell;

/// Seconds for a hook that answers, and for one that waits as long as the chat is open.
const ANSWERS: u64 = 10;
const WAITS: u64 = 30 * 24 * 3_600;

/// The events that we answer, as our command line names them, and as clients do.
const EVENTS: [&str; 5] = [
    "session-start",
    "prompt",
    "stop",
    "pre-compact",
    "session-end",
];
const CLAUDE: [&str; 5] = [
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "PreCompact",
    "SessionEnd",
];
const GEMINI: [&str; 5] = [
    "SessionStart",
    "BeforeAgent",
    "AfterAgent",
    "PreCompress",
    "SessionEnd",
];
const COPILOT: [&str; 5] = [
    "sessionStart",
    "userPromptSubmitted",
    "agentStop",
    "preCompact",
    "sessionEnd",
];
const CURSOR: [&str; 5] = [
    "sessionStart",
    "beforeSubmitPrompt",
    "stop",
    "preCompact",
    "sessionEnd",
];

/// opencode's plugin, and the line of it that names the program.
const PLUGIN: &str = include_str!("config/opencode.js");
const PROGRAM: &str = "const UNDERSTORY = \"understory\"";

/// A client for which there is something to paste.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Claude,
    Codex,
    Gemini,
    Copilot,
    Cursor,
    Opencode,
}

impl Target {
    pub const ALL: [Target; 6] = [
        Target::Claude,
        Target::Codex,
        Target::Gemini,
        Target::Copilot,
        Target::Cursor,
        Target::Opencode,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Target::Claude => "claude",
            Target::Codex => "codex",
            Target::Gemini => "gemini",
            Target::Copilot => "copilot",
            Target::Cursor => "cursor",
            Target::Opencode => "opencode",
        }
    }

    pub fn parse(text: &str) -> Option<Target> {
        let text = if text == "claude-code" {
            "claude"
        } else {
            text
        };
        Target::ALL.into_iter().find(|one| one.as_str() == text)
    }

    /// The file that it belongs in.
    pub fn file(self) -> &'static str {
        match self {
            Target::Claude => "~/.claude/settings.json",
            Target::Codex => "~/.codex/hooks.json",
            Target::Gemini => "~/.gemini/settings.json",
            Target::Copilot => "~/.copilot/hooks/understory.json",
            Target::Cursor => "~/.cursor/hooks.json",
            Target::Opencode => "~/.config/opencode/plugins/understory.js",
        }
    }
}

/// Hooks in groups, each of which may be for some occasions only.
#[derive(Debug, Serialize)]
struct Grouped {
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

/// Hooks by event, in a file that says its version.
#[derive(Debug, Serialize)]
struct Listed<H> {
    version: u32,
    hooks: BTreeMap<&'static str, [H; 1]>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CopilotHook {
    #[serde(rename = "type")]
    kind: &'static str,
    command: String,
    timeout_sec: u64,
}

#[derive(Debug, Serialize)]
struct CursorHook {
    command: String,
    timeout: u64,
}

/// What to paste, with the program at this path.
pub fn printed(target: Target, program: &str) -> String {
    let line = |event| shell::line([program, "hook", event, "--client", target.as_str()]);
    match target {
        Target::Claude => written(&claude(program)),
        Target::Codex => written(&grouped(CLAUDE, line, ANSWERS)),
        // It counts milliseconds.
        Target::Gemini => written(&grouped(GEMINI, line, ANSWERS * 1_000)),
        Target::Copilot => written(&listed(COPILOT, |event| CopilotHook {
            kind: "command",
            command: line(event),
            timeout_sec: ANSWERS,
        })),
        Target::Cursor => written(&listed(CURSOR, |event| CursorHook {
            command: line(event),
            timeout: ANSWERS,
        })),
        Target::Opencode => {
            // A string of JSON is one of JavaScript.
            let path = serde_json::Value::from(program);
            PLUGIN.replace(PROGRAM, &format!("const UNDERSTORY = {path}"))
        }
    }
}

fn written(settings: &impl Serialize) -> String {
    serde_json::to_string_pretty(settings).unwrap_or_default()
}

/// Claude Code's: two of its hooks also wait beside the chat. The client is known by its environment,
/// as other clients read these settings, too.
fn claude(program: &str) -> Grouped {
    let line = |event| shell::line([program, "hook", event]);
    let mut all = grouped(CLAUDE, line, ANSWERS);
    for (name, [group]) in &mut all.hooks {
        if ["SessionStart", "Stop"].contains(name) {
            group.hooks.push(Hook {
                kind: "command",
                command: line("wake"),
                timeout: WAITS,
                async_rewake: true,
            });
        }
    }
    all
}

fn grouped(names: [&'static str; 5], line: impl Fn(&'static str) -> String, most: u64) -> Grouped {
    let hook = |event| Hook {
        kind: "command",
        command: line(event),
        timeout: most,
        async_rewake: false,
    };
    let group = |event| Group {
        hooks: vec![hook(event)],
    };
    let all = names.into_iter().zip(EVENTS);
    Grouped {
        hooks: all.map(|(name, event)| (name, [group(event)])).collect(),
    }
}

fn listed<H>(names: [&'static str; 5], hook: impl Fn(&'static str) -> H) -> Listed<H> {
    let all = names.into_iter().zip(EVENTS);
    Listed {
        version: 1,
        hooks: all.map(|(name, event)| (name, [hook(event)])).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_one_string_of_javascript() {
        let path = "/o\"dd\\ path/`${x}`/understory";
        let plugin = printed(Target::Opencode, path);
        let line = r#"const UNDERSTORY = "/o\"dd\\ path/`${x}`/understory""#;
        assert!(plugin.lines().any(|one| one == line), "{plugin}");
    }

    #[test]
    fn every_client_is_named_as_its_hooks_name_it() {
        for target in Target::ALL {
            assert_eq!(Target::parse(target.as_str()), Some(target));
            assert!(target.file().starts_with("~/."));
        }
        assert_eq!(Target::parse("claude-code"), Some(Target::Claude));
        assert_eq!(Target::parse("emacs"), None);
    }
}
