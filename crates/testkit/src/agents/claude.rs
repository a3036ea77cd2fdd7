//! Claude Code: set up so that it asks nothing at its start, and what it says about its sessions.

use serde::Deserialize;
use serde_json::json;

use super::hooks::{Hook, settings};
use super::lab::{Ended, KEY, Lab};
use super::tmux::{Pane, Tmux};

/// The last line of the screen while it waits for a prompt.
const IDLE: &str = r"\? for shortcuts";

/// Large enough that no dialog is cut off.
const SCREEN: (u16, u16) = (120, 50);

/// Claude Code in a lab.
pub struct Claude<'a> {
    lab: &'a Lab,
}

/// A session of it on this machine, as `claude agents --json` says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    pub pid: u32,
    pub session_id: String,
    pub status: Option<Status>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Idle,
    Busy,
    /// For a person, such as one who may permit something.
    Waiting,
}

impl<'a> Claude<'a> {
    /// What stands on the screen while it asks a person for permission.
    pub const ASKS: &'static str = r"Do you want to proceed\?";

    /// Writes its settings: first questions answered, the repository trusted, Understory as its MCP server
    /// with every tool permitted, and these hooks.
    pub fn set_up(lab: &'a Lab, hooks: &[Hook]) -> Claude<'a> {
        Claude::with(lab, hooks, &["mcp__understory"])
    }

    /// As [`Claude::set_up`], but a person is asked before every call.
    pub fn that_asks(lab: &'a Lab) -> Claude<'a> {
        Claude::with(lab, &[], &[])
    }

    fn with(lab: &'a Lab, hooks: &[Hook], allowed: &[&str]) -> Claude<'a> {
        let server = json!({
            "type": "stdio", "command": lab.understory, "args": ["mcp", "--tools", "all"],
            "env": {"UNDERSTORY_STORE": lab.store}
        });
        let repository = lab.walls.repository().display().to_string();
        let state = json!({
            "hasCompletedOnboarding": true,
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "projects": {repository: {"hasTrustDialogAccepted": true}},
            "mcpServers": {"understory": server}
        });
        lab.write(".claude.json", &state.to_string());
        let all = json!({"permissions": {"allow": allowed}, "hooks": settings(hooks)});
        lab.write(".claude/settings.json", &all.to_string());
        Claude { lab }
    }

    /// Runs a script without a terminal, to its end.
    pub fn headless(&self, script: &str) -> Ended {
        self.lab.run("claude", &["-p", "--", script])
    }

    /// Starts it in a terminal and waits until it is idle.
    #[track_caller]
    pub fn interactive<'t>(&self, tmux: &'t Tmux<'t>) -> Pane<'t> {
        self.started_by(tmux, &[])
    }

    /// As [`Claude::interactive`], started by a program that has these words before it.
    #[track_caller]
    pub fn started_by<'t>(&self, tmux: &'t Tmux<'t>, words: &[&str]) -> Pane<'t> {
        // Its default mode has every call judged by a service that is not there.
        let claude = ["claude", "--permission-mode", "manual"];
        let pane = tmux.start("claude", SCREEN, &[words, &claude].concat());
        pane.wait_for(IDLE);
        pane
    }

    /// The sessions that it knows of, each with what it is doing.
    #[track_caller]
    pub fn sessions(&self) -> Vec<Session> {
        let list = self.lab.run("claude", &["agents", "--json"]).ok();
        serde_json::from_str(&list).unwrap_or_else(|e| panic!("{e}: {list}"))
    }
}
