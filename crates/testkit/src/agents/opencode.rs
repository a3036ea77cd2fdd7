//! opencode: set up with the fake model, and without what it would look for on the network.

use serde_json::json;

use super::fake_model::ADDRESS;
use super::lab::Lab;
use super::tmux::{Pane, Tmux};

/// The composer while it waits for the first prompt, and below it that our server is connected, which is
/// shown once all has been loaded.
const IDLE: &str = r"(?s)Ask anything.*1 MCP";

const SCREEN: (u16, u16) = (120, 50);

/// Its settings' folder, below the home.
const FOLDER: &str = ".config/opencode";

/// What it would install beside its settings, for plugins in TypeScript: more than a minute of trying.
const TYPES: &str = r#"{"@opencode-ai/plugin": "*"}"#;

/// opencode in a lab.
pub struct Opencode;

impl Opencode {
    /// Writes its settings, with Understory as its MCP server, and this plugin.
    pub fn set_up(lab: &Lab, plugin: &str) -> Opencode {
        let fake = json!({
            "npm": "@ai-sdk/openai-compatible", "name": "fake",
            "options": {"baseURL": format!("http://{ADDRESS}/v1"), "apiKey": "no-key-is-needed"},
            "models": {"fake": {"name": "fake", "tool_call": true}}
        });
        let server = json!({
            "type": "local", "command": [lab.understory, "mcp", "--tools", "all"],
            "environment": {"UNDERSTORY_STORE": lab.store}
        });
        let all = json!({
            "autoupdate": false, "share": "disabled", "model": "fake/fake",
            "small_model": "fake/fake", "provider": {"fake": fake}, "mcp": {"understory": server}
        });
        let write = |name: &str, text: &str| lab.write(&format!("{FOLDER}/{name}"), text);
        write("opencode.json", &all.to_string());
        write("plugins/understory.js", plugin);
        write("node_modules/.keep", "");
        write("package.json", &format!(r#"{{"dependencies": {TYPES}}}"#));
        let locked = format!(r#"{{"packages": {{"": {{"dependencies": {TYPES}}}}}}}"#);
        write("package-lock.json", &locked);
        Opencode
    }

    /// Starts it in a terminal and waits until it is idle.
    #[track_caller]
    pub fn interactive<'t>(&self, tmux: &'t Tmux<'t>) -> Pane<'t> {
        let pane = tmux.start("opencode", SCREEN, &["opencode"]);
        pane.wait_for(IDLE);
        pane
    }
}
