//! The moments of a chat at which hooks run, in one form for all clients.

use std::path::PathBuf;

use super::client::Client;

/// A moment of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    SessionStart,
    Prompt,
    Stop,
    PreCompact,
    SessionEnd,
    /// A hook that waits until there is something to tell.
    Wake,
}

impl Event {
    pub const ALL: [Event; 6] = [
        Event::SessionStart,
        Event::Prompt,
        Event::Stop,
        Event::PreCompact,
        Event::SessionEnd,
        Event::Wake,
    ];

    /// As our command line names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Event::SessionStart => "session-start",
            Event::Prompt => "prompt",
            Event::Stop => "stop",
            Event::PreCompact => "pre-compact",
            Event::SessionEnd => "session-end",
            Event::Wake => "wake",
        }
    }

    pub fn parse(text: &str) -> Option<Event> {
        Event::ALL.into_iter().find(|one| one.as_str() == text)
    }
}

/// Why a chat begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Source {
    #[default]
    Startup,
    /// An earlier chat goes on, with what was said in it.
    Resume,
    /// The person emptied the chat.
    Clear,
    /// The client shortened what was said.
    Compact,
}

impl Source {
    pub fn parse(text: Option<&str>) -> Source {
        match text {
            Some("resume") => Source::Resume,
            Some("clear") => Source::Clear,
            Some("compact") => Source::Compact,
            _ => Source::Startup,
        }
    }

    /// Whether the agent no longer knows what it was told.
    pub fn forgets(self) -> bool {
        matches!(self, Source::Clear | Source::Compact)
    }

    /// Whether the agent was at work in this chat before.
    pub fn goes_on(self) -> bool {
        matches!(self, Source::Resume | Source::Compact)
    }
}

/// A hook that a client fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fired {
    pub client: Client,
    pub event: Event,
    /// The event as the client names it.
    pub name: String,
    /// The chat as the client names it.
    pub session: String,
    pub folder: Option<PathBuf>,
    /// Where the client takes prompts for the chat, if it says so itself.
    pub address: Option<String>,
    /// The turn, if the client names it.
    pub turn: Option<String>,
    /// What identifies the firing otherwise.
    pub hash: String,
    pub source: Source,
    /// The chat ends, but its process begins another at once.
    pub cleared: bool,
}

/// What a hook has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Nothing,
    /// Facts that the agent is to know.
    Facts(String),
    /// What the agent is to go on with instead of stopping.
    GoOn(String),
}
