//! `branchmind_notes_commit`: appends a note.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::reasoning::notes::{self, Note};
use understory_engine::reasoning::place::Wanted;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    target: Option<String>,
    branch: Option<String>,
    doc: Option<String>,
    #[schemars(extend("x-long" = true))]
    content: String,
    title: Option<String>,
    format: Option<String>,
    meta: Option<Map<String, Value>>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_notes_commit",
    title: "Add note",
    effect: Effect::Adds,
    surface: Surface::Reasoning,
    about: "Append a note to the notes of a plan or task, or to a document of a branch.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "content": "Retries hide the real fault."}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let note = Note {
        title: input.title,
        format: input.format,
        meta: input.meta,
        content: input.content,
        ..Note::default()
    };
    notes::check_content(&note)?;
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    super::append(context, request, wanted, note)
}
