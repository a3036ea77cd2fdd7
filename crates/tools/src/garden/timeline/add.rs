//! `garden_add`: a fact for the timeline.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use understory_engine::garden::timeline::add::{self, Added, Complete, New};
use understory_engine::garden::timeline::moment;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::bounds::{ABOUT, LONG};
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
            "description": "Note, Message, ToolCall or CamelCase",
        },
        "fragments": {
            "type": "array",
            "items": { "type": ["string", "object"] },
            ABOUT: "of a Message: its text in parts, each a text or {content, id}",
        },
    });
    let texts = [
        ("description", "the text of a Note or Message"),
        ("title", "of a Note or Message"),
        ("summary", "of a Note or Message"),
        ("sender", "of a Message: who said it, you by default"),
        ("recipient", "of a Message: to whom it was said"),
        ("subject", "of a Message: what it is about"),
        ("tool", "of a ToolCall: the tool's name"),
        ("operation", "of a ToolCall: what the tool was to do"),
        (
            "caller",
            "of a ToolCall: user or agent, by default as your role is",
        ),
        ("context", "of a ToolCall: why the tool was called"),
        ("event_type", "of a type of your own: what happened"),
    ];
    for (name, about) in texts {
        fields[name] = json!({ "type": "string", ABOUT: about, LONG: true });
    }
    let names = [
        ("replies_to", "the item that it answers"),
        ("canonical_at", "when it happened, RFC 3339; now by default"),
        ("log", "the conversation; yours by default"),
        ("project", "yours by default"),
    ];
    for (name, about) in names {
        fields[name] = json!({ "type": "string", ABOUT: about });
    }
    let objects = [
        ("params", "of a ToolCall: its arguments"),
        (
            "result",
            "of a ToolCall: status (success, error or cancelled) and what it answered",
        ),
        ("payload", "of a type of your own: its details"),
        ("attributes", "fields of your own, beside those of the type"),
    ];
    for (name, about) in objects {
        fields[name] = json!({ "type": "object", ABOUT: about });
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
