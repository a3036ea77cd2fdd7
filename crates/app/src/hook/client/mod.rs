//! The clients whose hooks are known, one file each for what it writes and reads.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use understory_model::Fault;
use understory_model::thread::Channel;

use super::event::{Event, Fired, Said};
use crate::client as around_us;
use crate::config::Surroundings;
use crate::loopback::is_this_machine;

/// A client with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    Claude,
    Codex,
    Gemini,
    Copilot,
    /// Copilot in VS Code, which runs the hooks of the command line.
    VsCode,
    Cursor,
    Opencode,
}

/// What any client may write, as far as it tells the clients apart.
#[derive(Deserialize)]
struct Shape {
    hook_event_name: Option<String>,
    session_id: Option<String>,
    #[serde(rename = "sessionId")]
    camel_session: Option<String>,
    conversation_id: Option<String>,
    turn_id: Option<String>,
    timestamp: Option<serde::de::IgnoredAny>,
    transcript_path: Option<serde::de::IgnoredAny>,
}

/// What Copilot's command line leaves in the environment of its hooks.
const COPILOT: &str = "COPILOT_CLI";

/// Whether a person sits before the client, who can be asked and seen typing.
pub fn is_interactive(around: &Surroundings) -> Result<bool, Fault> {
    let entry = around.var("CLAUDE_CODE_ENTRYPOINT")?;
    Ok(entry.as_deref() == Some("cli"))
}

impl Client {
    /// The client that fired a hook: the one that is named, else what the environment says, else
    /// what the text looks like.
    pub fn of(
        named: Option<&str>,
        around: &Surroundings,
        text: &str,
    ) -> Result<Option<Client>, Fault> {
        let known = match named {
            Some(name) => Client::named(name),
            None => {
                let shell = around_us::shell(around)?;
                let known = shell.and_then(|shell| Client::named(&shell.agent));
                known.or_else(|| Client::shaped(text))
            }
        };
        // VS Code runs the hooks that are set up for the command line.
        let elsewhere = around.var(COPILOT)?.is_none();
        Ok(known.map(|client| match client {
            Client::Copilot if elsewhere => Client::VsCode,
            other => other,
        }))
    }

    fn named(name: &str) -> Option<Client> {
        Some(match name {
            "claude" | "claude-code" => Client::Claude,
            "codex" | "codex-mcp-client" => Client::Codex,
            "gemini" | "gemini-cli" | "gemini-cli-mcp-client" => Client::Gemini,
            "copilot" | "copilot-cli" => Client::Copilot,
            "vscode" => Client::VsCode,
            "cursor" | "cursor-vscode" => Client::Cursor,
            "opencode" => Client::Opencode,
            _ => return None,
        })
    }

    fn shaped(text: &str) -> Option<Client> {
        let shape: Shape = serde_json::from_str(text).ok()?;
        let event = shape.hook_event_name.as_deref();
        let gemini = ["BeforeAgent", "AfterAgent", "PreCompress"];
        let both = ["SessionStart", "SessionEnd"];
        if shape.conversation_id.is_some() {
            return Some(Client::Cursor);
        }
        if event.is_some_and(|event| gemini.contains(&event)) {
            return Some(Client::Gemini);
        }
        if shape.camel_session.is_some() {
            return Some(Client::Copilot);
        }
        shape.session_id.as_ref()?;
        event?;
        if shape.turn_id.is_some() {
            return Some(Client::Codex);
        }
        match (shape.transcript_path, shape.timestamp) {
            (Some(_), Some(_)) if event.is_some_and(|event| both.contains(&event)) => {
                Some(Client::Gemini)
            }
            (Some(_), Some(_)) => Some(Client::Copilot),
            (Some(_), None) => Some(Client::Claude),
            (None, Some(_)) => Some(Client::Copilot),
            (None, None) => None,
        }
    }

    /// As it names itself over MCP.
    pub fn mcp_name(self) -> &'static str {
        match self {
            Client::Claude => "claude-code",
            Client::Codex => "codex-mcp-client",
            Client::Gemini => "gemini-cli-mcp-client",
            Client::Copilot | Client::VsCode => "copilot-cli",
            Client::Cursor => "cursor-vscode",
            Client::Opencode => "opencode",
        }
    }

    /// Whether its process has one chat at a time, and so says which chat is meant. opencode has
    /// several, but names none beside a call: they are one session, as after `/clear`. Codex has a
    /// process for all chats, and names the chat beside each call.
    pub fn has_one_chat(self) -> bool {
        match self {
            Client::Claude | Client::Gemini | Client::Copilot | Client::VsCode => true,
            Client::Opencode => true,
            Client::Codex | Client::Cursor => false,
        }
    }

    /// Whether what a hook says of an event reaches the model.
    pub fn hears(self, event: Event) -> bool {
        match (self, event) {
            (_, Event::PreCompact | Event::SessionEnd) => false,
            (Client::Claude | Client::Codex | Client::Gemini | Client::Copilot, _) => true,
            (Client::VsCode | Client::Cursor, event) => event == Event::Stop,
            // Its turn has ended when it says so.
            (Client::Opencode, event) => event != Event::Stop,
        }
    }

    /// Whether its event before a compaction means one. Gemini fires it at every turn.
    pub fn compacts(self) -> bool {
        self != Client::Gemini
    }

    /// How a chat of it can be reached.
    pub fn channel(self, interactive: bool, address: &str) -> Channel {
        match self {
            Client::Claude if interactive => Channel::ClaudeRewake,
            Client::Codex => Channel::CodexQueue,
            Client::Opencode if !address.is_empty() => Channel::OpencodePrompt,
            _ => Channel::Hooks,
        }
    }

    /// What a client wrote; `None` if it is not what this client writes, or of another event.
    pub fn read(self, event: Event, text: &str) -> Option<Fired> {
        match self {
            Client::Claude => typed::<claude::Input>(text)?.fired(event),
            Client::Codex => typed::<codex::Input>(text)?.fired(event),
            Client::Gemini => typed::<gemini::Input>(text)?.fired(event),
            Client::Copilot | Client::VsCode => typed::<copilot::Input>(text)?.fired(self, event),
            Client::Cursor => typed::<cursor::Input>(text)?.fired(event),
            Client::Opencode => typed::<opencode::Input>(text)?.fired(event),
        }
    }

    /// What is printed for the client; `None` if that is nothing.
    pub fn write(self, fired: &Fired, said: &Said) -> Option<String> {
        let text = match self {
            Client::Claude | Client::Codex => claude::output(fired, said, claude::Decision::Block),
            Client::Gemini => claude::output(fired, said, claude::Decision::Deny),
            Client::Copilot | Client::VsCode => copilot::output(fired, said),
            Client::Cursor => cursor::output(said),
            Client::Opencode => opencode::output(said),
        };
        text.map(|text| text + "\n")
    }
}

fn typed<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// The address of a client's server, if it is on this machine.
pub fn loopback(address: &str) -> Option<&str> {
    let rest = address.strip_prefix("http://")?;
    is_this_machine(rest).then_some(address)
}

#[cfg(test)]
mod tests;
