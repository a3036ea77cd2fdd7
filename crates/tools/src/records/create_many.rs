//! `create_records`: many new records at once, all of them or none.
//!
//! A tool of its own and not an argument of `create_record`, so that each schema says what its call
//! requires.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::records::create::NewRecord;
use understory_engine::records::create_many::{self, Entry};
use understory_engine::records::fields::{OPEN, STATES};
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(length(max = limits::RECORDS))]
    records: Vec<Record>,
    session_id: Option<String>,
    project_id: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Record {
    /// temporary name within this call
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// a ref of this call or an active record; else a root
    #[schemars(extend("nullable" = true, "type" = ["string", "null"]))]
    parent_id: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    summary: String,
    #[schemars(extend("x-long" = true, "x-nul" = true))]
    body: String,
    #[schemars(extend("enum" = STATES))]
    state: Option<String>,
    reason: Option<String>,
    resolved_by: Option<String>,
    /// refs or ids
    #[schemars(length(max = limits::LIST_LEN))]
    related: Option<Vec<String>>,
    metadata: Option<Map<String, Value>>,
}

pub const TOOL: Tool = Tool {
    name: "create_records",
    title: "Create records",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "Create many records, all or none; fields as in create_record. Returns their ids in order.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"records": [{"ref": "q", "type": "question", "title": "Which database?", "summary": "One file or a server.", "body": "Who runs it?"}, {"parent_id": "q", "type": "note", "title": "One file", "summary": "Nothing to run.", "body": "One writer at a time."}]}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_project("project_id", input.project_id.as_deref())?;
    let entries: Vec<Entry> = input.records.into_iter().map(entry).collect();
    create_many::check(&entries)?;
    let (session, project) = (input.session_id, input.project_id);
    context
        .engine
        .write_json(context.caller, request, move |work| {
            create_many::create_many(work, &entries, session.as_deref(), project.as_deref())
        })
}

fn entry(record: Record) -> Entry {
    Entry {
        reference: record.reference,
        new: NewRecord {
            parent: record.parent_id,
            kind: record.kind,
            title: record.title,
            summary: record.summary,
            body: record.body,
            state: record.state.unwrap_or_else(|| OPEN.into()),
            reason: record.reason,
            resolved_by: record.resolved_by,
            related: record.related.unwrap_or_default(),
            metadata: record.metadata,
        },
    }
}
