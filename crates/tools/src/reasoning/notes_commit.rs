//! `branchmind_notes_commit`: appends a note.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::reasoning::notes::{Committed, Note};
use understory_engine::reasoning::notes_commit::{self, NewNote};
use understory_engine::reasoning::place::Wanted;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

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
    output: output::<Committed>,
    takes: &[Common::Key],
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "content": "Retries hide the real fault."}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Committed>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let note = Note {
        title: input.title,
        format: input.format,
        meta: input.meta,
        content: input.content,
        ..Note::default()
    };
    let note = NewNote::try_from(note)?;
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    super::append(call, wanted, note, notes_commit::commit)
}
