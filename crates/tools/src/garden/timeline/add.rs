//! `garden_add`: a fact for the timeline.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use understory_engine::garden::timeline::add::{self, Added, Complete, New};
use understory_engine::garden::timeline::moment;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::bounds::LONG;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize)]
struct Input {
    r#type: String,
    attributes: Option<Map<String, Value>>,
    replies_to: Option<String>,
    canonical_at: Option<String>,
    log: Option<String>,
    project: Option<String>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// A type has its own fields beside those that all have; types of one's own have any.
fn schema() -> Value {
    let mut fields = json!({
        "type": {
            "type": "string",
            "description": "Note, Message, ToolCall, or your own CamelCase",
        },
        "fragments": { "type": "array", "items": { "type": ["string", "object"] } },
    });
    let texts = [
        "description",
        "title",
        "summary",
        "sender",
        "recipient",
        "subject",
        "tool",
        "operation",
        "caller",
        "context",
        "event_type",
    ];
    for name in texts {
        fields[name] = json!({ "type": "string", LONG: true });
    }
    for name in ["replies_to", "canonical_at", "log", "project"] {
        fields[name] = json!({ "type": "string" });
    }
    for name in ["params", "result", "payload", "attributes"] {
        fields[name] = json!({ "type": "object" });
    }
    json!({
        "type": "object",
        "properties": fields,
        "required": ["type"],
        "additionalProperties": true,
    })
}

pub const TOOL: Tool = Tool {
    name: "garden_add",
    title: "Add to timeline",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Add a fact to the timeline, in your log unless you name another.",
    access: Access::Write,
    essential: false,
    schema,
    output: output::<Added>,
    takes: &[Common::Key],
    example: r#"{"type": "Message", "description": "Use PostgreSQL: SQLite has one writer.", "sender": "user"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Added>, Fault> {
    let new = New {
        kind: input.r#type,
        fields: input.fields,
        attributes: input.attributes.unwrap_or_default(),
        replies_to: input.replies_to,
        canonical_at: moment("canonical_at", input.canonical_at.as_deref())?,
        log: input.log,
        project: input.project,
    };
    let new = Complete::of(new, call.caller)?;
    call.write(move |work| add::add(work, &new))
}
