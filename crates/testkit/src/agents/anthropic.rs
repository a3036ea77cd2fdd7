//! Anthropic's Messages, as Claude Code speaks it: the conversation in a request, and an answer as JSON
//! or as a stream of events.

use serde::Deserialize;
use serde_json::{Value, json};

use super::script::{Act, Event};

#[derive(Deserialize)]
pub struct Request {
    #[serde(default)]
    pub model: String,
    #[serde(default)]
    pub stream: bool,
    #[serde(default)]
    messages: Vec<Message>,
    #[serde(default)]
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
}

#[derive(Deserialize)]
struct Message {
    role: Role,
    content: Content,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Assistant,
    System,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    ToolUse {},
    ToolResult {
        content: Option<Content>,
    },
    #[serde(other)]
    Other,
}

impl Content {
    fn text(&self) -> String {
        match self {
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(|block| match block {
                    Block::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl Request {
    pub fn offers_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    pub fn conversation(&self) -> Vec<Event> {
        self.messages.iter().flat_map(Message::events).collect()
    }

    /// The name that this client has for a tool. A deferred one is not offered, and called all the same.
    fn named(&self, tool: &str) -> String {
        let suffix = format!("__{tool}");
        let offered = self.tools.iter().map(|tool| tool.name.as_str());
        let found = offered
            .into_iter()
            .find(|name| *name == tool || name.ends_with(&suffix));
        found.map_or_else(|| format!("mcp__understory{suffix}"), str::to_owned)
    }

    /// The answer's one block of content, and why it ends.
    fn block(&self, number: usize, act: &Act) -> (Value, &'static str) {
        match act {
            Act::Say(words) => (json!({"type": "text", "text": words}), "end_turn"),
            Act::Call { tool, arguments } => {
                let input: Value = serde_json::from_str(arguments)
                    .unwrap_or_else(|e| panic!("CALL {tool} {arguments}: {e}"));
                let id = format!("toolu_{number:04}");
                let name = self.named(tool);
                (
                    json!({"type": "tool_use", "id": id, "name": name, "input": input}),
                    "tool_use",
                )
            }
        }
    }

    pub fn answer(&self, number: usize, act: &Act) -> Value {
        let (block, stop) = self.block(number, act);
        json!({
            "id": format!("msg_{number:04}"), "type": "message", "role": "assistant",
            "model": self.model, "content": [block], "stop_reason": stop, "stop_sequence": null,
            "usage": {"input_tokens": 100, "output_tokens": 10,
                "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        })
    }

    pub fn events(&self, number: usize, act: &Act) -> Vec<Value> {
        let (mut block, stop) = self.block(number, act);
        let delta = match act {
            Act::Say(words) => {
                block["text"] = json!("");
                json!({"type": "text_delta", "text": words})
            }
            Act::Call { arguments, .. } => {
                block["input"] = json!({});
                json!({"type": "input_json_delta", "partial_json": arguments})
            }
        };
        let mut message = self.answer(number, act);
        message["content"] = json!([]);
        message["stop_reason"] = Value::Null;
        vec![
            json!({"type": "message_start", "message": message}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
            json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "usage": {"output_tokens": 10},
                "delta": {"stop_reason": stop, "stop_sequence": null}}),
            json!({"type": "message_stop"}),
        ]
    }
}

impl Message {
    fn events(&self) -> Vec<Event> {
        let blocks = match &self.content {
            Content::Text(text) if self.role == Role::Assistant => {
                return if text.is_empty() {
                    vec![]
                } else {
                    vec![Event::Said]
                };
            }
            Content::Text(text) => return vec![Event::Text(text.clone())],
            Content::Blocks(blocks) => blocks,
        };
        if self.role == Role::Assistant {
            let called = blocks
                .iter()
                .any(|block| matches!(block, Block::ToolUse {}));
            return vec![if called { Event::Called } else { Event::Said }];
        }
        let heard = blocks.iter().filter_map(|block| match block {
            Block::Text { text } => Some(Event::Text(text.clone())),
            Block::ToolResult { content } => Some(Event::Result(
                content.as_ref().map(Content::text).unwrap_or_default(),
            )),
            Block::ToolUse {} | Block::Other => None,
        });
        heard.collect()
    }
}
