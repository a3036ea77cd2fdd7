//! What a tool is: declared once, and listed, called, documented and served from that declaration.

use serde::Serialize;
use serde_json::{Value, json};
use understory_engine::{Engine, Request};
use understory_model::answer::Written;
use understory_model::{Caller, Fault};

use crate::answers;
use crate::bounds;
use crate::call::Call;

/// The five vocabularies, and what belongs to none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Surface {
    Records,
    Reasoning,
    Threads,
    Garden,
    Graph,
    System,
}

impl Surface {
    pub const ALL: [Surface; 6] = [
        Surface::Records,
        Surface::Reasoning,
        Surface::Threads,
        Surface::Garden,
        Surface::Graph,
        Surface::System,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Surface::Records => "records",
            Surface::Reasoning => "reasoning",
            Surface::Threads => "threads",
            Surface::Garden => "garden",
            Surface::Graph => "graph",
            Surface::System => "system",
        }
    }
}

/// The most that a tool may do; an auditor calls only what reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    /// Reads unless an argument or the state of things asks it to write; the write path then
    /// refuses those who may not.
    ReadOrWrite,
}

/// What a call changes, for clients that ask a person before some calls and not before others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Nothing,
    /// Each call adds to what is kept; nothing is lost.
    Adds,
    /// As [`Effect::Adds`], and the same call again changes nothing more.
    Settles,
    /// Something that was there can no longer be read afterwards.
    Erases,
}

/// A tool's declaration.
#[derive(Clone, Copy)]
pub struct Tool {
    pub name: &'static str,
    /// Its name for people, as clients show it in lists and dialogs.
    pub title: &'static str,
    pub effect: Effect,
    pub surface: Surface,
    /// What it is for, in the words an agent chooses by.
    pub about: &'static str,
    pub access: Access,
    /// Whether it is in the default tool set.
    pub essential: bool,
    /// A terse JSON Schema of its own arguments; callers are shown [`Tool::input_schema`].
    pub schema: fn() -> Value,
    /// A JSON Schema of its answer; callers are shown [`Tool::output_schema`].
    pub output: fn() -> Value,
    /// The common arguments it takes beside its own.
    pub takes: &'static [Common],
    /// Arguments that work, for the reference page, errors and `understory call --help`.
    pub example: &'static str,
    pub run: fn(&Call<'_>, Value) -> Result<Written, Fault>,
}

/// An argument that many tools take and none reads itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Common {
    /// `idempotency_key`: a retry with the same key and arguments is answered, not done, again.
    Key,
    /// `max_chars`: how many characters of JSON the answer may have.
    MaxChars,
    /// `max_bytes`: how many bytes of JSON the answer may have.
    MaxBytes,
    /// `max_lines`: how many lines the texts in the answer may have.
    MaxLines,
}

impl Common {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Common::Key => "idempotency_key",
            Common::MaxChars => "max_chars",
            Common::MaxBytes => "max_bytes",
            Common::MaxLines => "max_lines",
        }
    }

    fn schema(self) -> Value {
        match self {
            Common::Key => json!({ "type": "string" }),
            Common::MaxChars | Common::MaxBytes | Common::MaxLines => json!({ "type": "integer" }),
        }
    }
}

/// What a call has at hand.
pub struct Context<'a> {
    pub engine: &'a Engine,
    pub caller: &'a Caller,
    pub request_id: &'a str,
}

/// What makes two calls of a write the same: the tool, the key, and the arguments without it. A call
/// without a key is like no other, so its arguments need not be kept.
pub fn request(tool: &'static str, args: &Value) -> Request {
    let key = args.get("idempotency_key").and_then(Value::as_str);
    let mut arguments = key.map_or(Value::Null, |_| args.clone());
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.remove("idempotency_key");
    }
    Request {
        tool,
        scope: String::new(),
        key: key.map(str::to_string),
        arguments,
        cause: cause(args),
        project: project(args),
    }
}

/// The name of what led to a call; any write takes it.
pub const CAUSED_BY: &str = "caused_by";

pub fn cause(args: &Value) -> Option<String> {
    let cause = args.get(CAUSED_BY).and_then(Value::as_str);
    cause.map(str::to_string)
}

/// The version of a payload, which the threads specification puts into every call of its tools.
pub const SCHEMA_VERSION: &str = "schema_version";

/// The project that a call names; the records' tools call it `project_id`.
pub fn project(args: &Value) -> Option<String> {
    let named = ["project", "project_id"].into_iter();
    let mut named = named.filter_map(|field| args.get(field).and_then(Value::as_str));
    named.next().map(str::to_string)
}

impl Tool {
    /// The JSON Schema of its arguments, as clients are shown it.
    pub fn input_schema(&self) -> Value {
        let mut schema = self.checked_schema();
        bounds::listed(&mut schema);
        schema
    }

    /// The JSON Schema of its arguments with all that is said of them, for people who look them up.
    pub fn described_schema(&self) -> Value {
        let mut schema = self.checked_schema();
        bounds::described(&mut schema);
        schema
    }

    /// What a call's arguments are checked against: the tool's own fields and those that its kind of
    /// tool takes without being told, with a maximum for every list.
    pub(crate) fn checked_schema(&self) -> Value {
        let mut schema = (self.schema)();
        // A tool without arguments of its own may still take common ones.
        if schema["properties"].is_null() && !self.takes.is_empty() {
            schema["properties"] = json!({});
        }
        if let Some(fields) = schema["properties"].as_object_mut() {
            for common in self.takes {
                fields.insert(common.name().into(), common.schema());
            }
            if self.access != Access::Read {
                fields.insert(CAUSED_BY.into(), json!({ "type": "string" }));
            }
            if self.surface == Surface::Threads {
                let field = fields.entry(SCHEMA_VERSION);
                field.or_insert_with(|| json!({ "type": "integer" }));
            }
        }
        bounds::bounded(&mut schema);
        schema
    }

    /// The JSON Schema of its answer. A budget can take away almost everything, so that little is
    /// required where the caller may name one.
    pub fn output_schema(&self) -> Value {
        let mut schema = (self.output)();
        if self.takes.contains(&Common::MaxChars) {
            answers::shortened(&mut schema);
        }
        if self.access != Access::Read {
            answers::with_credentials(&mut schema);
        }
        schema
    }

    /// What clients are told about its effect. What a reader of the protocol assumes anyway is left
    /// out: whatever is not said to be harmless counts as destructive and as reaching outside.
    pub fn hints(&self) -> Hints {
        let told = |says: bool| says.then_some(true);
        Hints {
            read_only: told(self.effect == Effect::Nothing),
            destructive: match self.effect {
                Effect::Nothing => None,
                Effect::Adds | Effect::Settles => Some(false),
                Effect::Erases => Some(true),
            },
            idempotent: told(self.effect == Effect::Settles),
            open_world: false,
        }
    }
}

/// A tool's annotations as MCP has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Hints {
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    #[serde(rename = "openWorldHint")]
    pub open_world: bool,
}
