//! What a tool is: declared once, and listed, called, documented and served from that declaration.

use serde_json::Value;
use understory_engine::{Engine, Request};
use understory_model::{Caller, Fault};

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

/// A tool's declaration.
pub struct Tool {
    pub name: &'static str,
    pub surface: Surface,
    /// What it is for, in the words an agent chooses by.
    pub about: &'static str,
    pub access: Access,
    /// Whether it is in the default tool set.
    pub essential: bool,
    /// A terse JSON Schema of its own arguments; callers are shown [`Tool::input_schema`].
    pub schema: fn() -> Value,
    /// Arguments that work, for the reference page and for `understory call --help`.
    pub example: &'static str,
    pub run: fn(&Context<'_>, Value) -> Result<Value, Fault>,
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

/// The project that a call names; the records' tools call it `project_id`.
pub fn project(args: &Value) -> Option<String> {
    let named = ["project", "project_id"].into_iter();
    let mut named = named.filter_map(|field| args.get(field).and_then(Value::as_str));
    named.next().map(str::to_string)
}

impl Tool {
    /// The JSON Schema of its arguments, with what every write takes.
    pub fn input_schema(&self) -> Value {
        let mut schema = (self.schema)();
        if self.access != Access::Read
            && let Some(fields) = schema["properties"].as_object_mut()
        {
            fields.insert(CAUSED_BY.into(), serde_json::json!({ "type": "string" }));
        }
        schema
    }
}
