//! OpenAI's Responses, as Codex speaks it: the conversation in a request, and an answer as a stream of
//! events.

use serde::Deserialize;
use serde_json::{Value, json};

use super::script::{Act, Event};

#[derive(Deserialize)]
pub struct Request {
    #[serde(default)]
    input: Vec<Item>,
    #[serde(default)]
    tools: Vec<Tool>,
}

/// A tool, or a group of them: Codex makes one of each MCP server.
#[derive(Deserialize)]
struct Tool {
    #[serde(default)]
    name: String,
    #[serde(default)]
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item {
    Message {
        role: Role,
        content: Vec<Part>,
    },
    FunctionCall {},
    FunctionCallOutput {
        output: Output,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Developer,
    System,
    Assistant,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Output {
    Text(String),
    Parts(Vec<Part>),
}

fn joined(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    texts.join("\n")
}

impl Request {
    pub fn offers_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    pub fn conversation(&self) -> Vec<Event> {
        let events = self.input.iter().filter_map(|item| match item {
            Item::Message { role, .. } if *role == Role::Assistant => Some(Event::Said),
            Item::Message { content, .. } => Some(Event::Text(joined(content))),
            Item::FunctionCall {} => Some(Event::Called),
            Item::FunctionCallOutput { output } => Some(Event::Result(match output {
                Output::Text(text) => text.clone(),
                Output::Parts(parts) => joined(parts),
            })),
            Item::Other => None,
        });
        events.collect()
    }

    /// The group that offers a tool, if it is in one, and the name there.
    fn named(&self, tool: &str) -> (Option<&str>, String) {
        let suffix = format!("__{tool}");
        let fits = |name: &str| name == tool || name.ends_with(&suffix);
        for offered in &self.tools {
            if fits(&offered.name) {
                return (None, offered.name.clone());
            }
            if let Some(inside) = offered.tools.iter().find(|inside| fits(&inside.name)) {
                return (Some(&offered.name), inside.name.clone());
            }
        }
        (None, tool.to_owned())
    }

    fn item(&self, number: usize, act: &Act) -> Value {
        match act {
            Act::Say(words) => json!({
                "type": "message", "id": format!("msg_{number}"), "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": words, "annotations": []}]
            }),
            Act::Call { tool, arguments } => {
                let (group, name) = self.named(tool);
                let mut item = json!({
                    "type": "function_call", "id": format!("fc_{number}"),
                    "call_id": format!("call_{number}"), "name": name, "arguments": arguments,
                    "status": "completed"
                });
                if let Some(group) = group {
                    item["namespace"] = json!(group);
                }
                item
            }
        }
    }

    pub fn events(&self, number: usize, act: &Act) -> Vec<Value> {
        let id = format!("resp_{number:04}");
        let begun = json!({"id": id, "object": "response", "status": "in_progress", "output": []});
        let mut events = vec![json!({"type": "response.created", "response": begun})];
        let item = self.item(number, act);
        if let Act::Say(words) = act {
            let mut empty = item.clone();
            empty["content"] = json!([]);
            empty["status"] = json!("in_progress");
            events.extend([
                json!({"type": "response.output_item.added", "output_index": 0, "item": empty}),
                json!({"type": "response.output_text.delta", "item_id": item["id"],
                    "output_index": 0, "content_index": 0, "delta": words}),
            ]);
        }
        let usage = json!({
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 110
        });
        events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
        events.push(json!({"type": "response.completed", "response": {
            "id": id, "object": "response", "status": "completed", "output": [item],
            "usage": usage}}));
        events
    }
}
