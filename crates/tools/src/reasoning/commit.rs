//! `branchmind_commit`: appends an entry with a message to any document.

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
    message: String,
    #[schemars(extend("x-long" = true))]
    content: Option<String>,
    meta: Option<Map<String, Value>>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_commit",
    title: "Add document entry",
    effect: Effect::Adds,
    surface: Surface::Reasoning,
    about: "Append an entry with a message to any document.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "branch": "main", "doc": "notes", "message": "Chose SQLite"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let note = Note {
        title: Some(input.message),
        meta: input.meta,
        content: input.content.clone().unwrap_or_default(),
        ..Note::default()
    };
    notes::check_message(&note)?;
    if input.content.is_some() {
        notes::check_content(&note)?;
    }
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    super::append(context, request, wanted, note)
}
