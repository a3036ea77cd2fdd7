//! `create_records`: many new records at once, all of them or none.
//!
//! A tool of its own and not an argument of `create_record`, so that each schema says what its call
//! requires.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::create::Fields;
use understory_engine::records::create_many::{self, CreatedRecords, Entry, NewRecords};
use understory_model::answer::Answer;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(length(max = limits::RECORDS))]
    records: Vec<Record>,
    session_id: Option<String>,
    project_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Record {
    /// temporary name within this call, for parent_id, related and resolved_by
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// a ref of this call or an active record; else a root
    #[schemars(extend("nullable" = true, "type" = ["string", "null"]))]
    parent_id: Option<String>,
    #[serde(flatten)]
    fields: Fields,
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
    output: output::<CreatedRecords>,
    takes: &[Common::Key],
    example: r#"{"records": [{"ref": "q", "type": "question", "title": "Which database?", "summary": "One file or a server.", "body": "Who runs it?"}, {"parent_id": "q", "type": "note", "title": "One file", "summary": "Nothing to run.", "body": "One writer at a time."}]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<CreatedRecords>, Fault> {
    super::check_project("project_id", input.project_id.as_deref())?;
    let entries = input.records.into_iter().map(|record| Entry {
        reference: record.reference,
        parent: record.parent_id,
        fields: record.fields,
    });
    let new = NewRecords::try_from(entries.collect::<Vec<_>>())?;
    let (session, project) = (input.session_id, input.project_id);
    call.write(move |work| {
        create_many::create_many(work, &new, session.as_deref(), project.as_deref())
    })
}
