//! Codex: set up so that it asks nothing at its start, with hooks that it trusts, and its queue.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde::Deserialize;
use serde_json::json;

use super::fake_model::ADDRESS;
use super::hooks::{Hook, settings};
use super::lab::{Ended, Lab};
use super::tmux::{Pane, Tmux};

/// The composer while it waits for a prompt, and below it what is shown once all has been loaded.
const IDLE: &str = r"(?s)› Ask Codex to do anything.*fake default";

/// Large enough that no dialog is cut off.
const SCREEN: (u16, u16) = (120, 50);

/// Codex in a lab.
pub struct Codex<'a> {
    lab: &'a Lab,
}

/// A line of `codex app-server`'s answers.
#[derive(Deserialize)]
struct Line {
    id: Option<u32>,
    result: Option<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    data: Vec<Folder>,
}

#[derive(Deserialize)]
struct Folder {
    hooks: Vec<Found>,
}

/// A hook that Codex found in its settings.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    key: String,
    current_hash: String,
}

impl<'a> Codex<'a> {
    /// Writes its settings: the fake model, the repository trusted, Understory as its MCP server with every
    /// tool permitted, and these hooks, trusted too.
    pub fn set_up(lab: &'a Lab, hooks: &[Hook]) -> Codex<'a> {
        let [repository, understory, store] = [
            lab.walls.repository().display().to_string(),
            lab.understory.display().to_string(),
            lab.store.clone(),
        ]
        .map(|text| json!(text).to_string()); // a string of JSON is one of TOML
        let config = format!(
            "model = 'fake'\n\
             model_provider = 'fake'\n\
             check_for_update_on_startup = false\n\
             [model_providers.fake]\n\
             name = 'fake'\n\
             base_url = 'http://{ADDRESS}/v1'\n\
             env_key = 'FAKE_MODEL_KEY'\n\
             wire_api = 'responses'\n\
             [projects.{repository}]\n\
             trust_level = 'trusted'\n\
             [mcp_servers.understory]\n\
             command = {understory}\n\
             args = ['mcp', '--tools', 'all']\n\
             default_tools_approval_mode = 'approve'\n\
             tool_timeout_sec = 330\n\
             [mcp_servers.understory.env]\n\
             UNDERSTORY_STORE = {store}\n"
        );
        lab.write(".codex/config.toml", &config);
        let codex = Codex { lab };
        if !hooks.is_empty() {
            let all = json!({"hooks": settings(hooks)});
            lab.write(".codex/hooks.json", &all.to_string());
            codex.trust_hooks();
        }
        codex
    }

    /// Trusts every hook that its settings have now, as a person does who was asked about them.
    pub fn trust_hooks(&self) {
        let config = self.lab.walls.home().join(".codex/config.toml");
        let mut config = OpenOptions::new()
            .append(true)
            .open(config)
            .expect("a config");
        for Found { key, current_hash } in self.hooks() {
            let key = json!(key);
            writeln!(
                config,
                "[hooks.state.{key}]\ntrusted_hash = '{current_hash}'"
            )
            .expect("a line of the config");
        }
    }

    /// The hooks in its settings. It hashes what it would run in a way of its own, so it is asked.
    fn hooks(&self) -> Vec<Found> {
        let mut server = self
            .lab
            .walls
            .command("codex")
            .arg("app-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("codex starts");
        let mut input = server.stdin.take().expect("an input");
        let client = json!({"clientInfo": {"name": "understory-tests", "version": "1"}});
        let folders = json!({"cwds": [self.lab.walls.repository()]});
        for line in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
            json!({"jsonrpc": "2.0", "method": "initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "hooks/list", "params": folders}),
        ] {
            writeln!(input, "{line}").expect("codex reads");
        }
        let lines = BufReader::new(server.stdout.take().expect("an output")).lines();
        let answer = lines
            .map_while(Result::ok)
            .filter_map(|line| serde_json::from_str::<Line>(&line).ok())
            .find(|line| line.id == Some(2))
            .and_then(|line| line.result);
        drop(input);
        server.wait().expect("codex ends");
        let folders = answer.expect("a list of hooks").data;
        folders
            .into_iter()
            .flat_map(|folder| folder.hooks)
            .collect()
    }

    /// Runs a script without a terminal, to its end.
    pub fn headless(&self, script: &str) -> Ended {
        self.lab.run("codex", &["exec", "--", script])
    }

    /// Starts it in a terminal and waits until it is idle.
    #[track_caller]
    pub fn interactive<'t>(&self, tmux: &'t Tmux<'t>) -> Pane<'t> {
        let pane = tmux.start("codex", SCREEN, &["codex"]);
        pane.wait_for(IDLE);
        pane
    }

    /// Stops the daemon in which interactive sessions run, and with it their threads.
    #[track_caller]
    pub fn stop_daemon(&self) {
        self.lab
            .run("codex", &["app-server", "daemon", "stop"])
            .ok();
    }

    /// Sends a message to a thread, which begins a turn when that is idle.
    pub fn queue(&self, thread: &str, message: &str) -> Ended {
        let arguments = ["queue", "--thread", thread, "--message", message];
        self.lab.run("codex", &arguments)
    }
}
