//! OpenAI's Chat Completions, as opencode speaks it: the conversation in a request, and an answer as a
//! stream of chunks.

use serde::Deserialize;
use serde_json::{Value, json};

use super::script::{Act, Event};

#[derive(Deserialize)]
pub struct Request {
    #[serde(default)]
    messages: Vec<Message>,
    #[serde(default)]
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
}

#[derive(Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Message {
    User {
        content: Content,
    },
    Assistant {
        #[serde(default)]
        tool_calls: Vec<Call>,
    },
    Tool {
        content: Content,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Call {}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
}

impl Content {
    fn texts(&self) -> Vec<String> {
        match self {
            Content::Text(text) => vec![text.clone()],
            Content::Parts(parts) => parts.iter().map(|part| part.text.clone()).collect(),
        }
    }
}

impl Request {
    pub fn offers_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    pub fn conversation(&self) -> Vec<Event> {
        let events = self.messages.iter().flat_map(|message| match message {
            Message::User { content } => content.texts().into_iter().map(Event::Text).collect(),
            Message::Assistant { tool_calls } if tool_calls.is_empty() => vec![Event::Said],
            Message::Assistant { .. } => vec![Event::Called],
            Message::Tool { content } => vec![Event::Result(content.texts().join("\n"))],
            Message::Other => Vec::new(),
        });
        events.collect()
    }

    /// The name that the client has for a tool.
    fn named(&self, tool: &str) -> String {
        let suffix = format!("_{tool}");
        let offered = self.tools.iter().map(|tool| tool.function.name.as_str());
        let found = offered
            .into_iter()
            .find(|name| *name == tool || name.ends_with(&suffix));
        found.unwrap_or(tool).to_owned()
    }

    pub fn events(&self, number: usize, act: &Act) -> Vec<Value> {
        let (delta, end) = match act {
            Act::Say(words) => (json!({"role": "assistant", "content": words}), "stop"),
            Act::Call { tool, arguments } => {
                let call = json!({"index": 0, "id": format!("call_{number}"), "type": "function",
                    "function": {"name": self.named(tool), "arguments": arguments}});
                let delta = json!({"role": "assistant", "content": null, "tool_calls": [call]});
                (delta, "tool_calls")
            }
        };
        let chunk = |delta: Value, end: Value| {
            json!({"id": format!("chat_{number}"), "object": "chat.completion.chunk", "created": 1,
                "model": "fake",
                "choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
        };
        vec![chunk(delta, Value::Null), chunk(json!({}), json!(end))]
    }
}
