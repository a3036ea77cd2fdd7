//! `branchmind_commit`: appends an entry with a message to any document.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::reasoning::commit::{self, Entry, NewEntry};
use understory_engine::reasoning::notes::Committed;
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
    message: String,
    #[schemars(extend("x-long" = true))]
    content: Option<String>,
    meta: Option<Map<String, Value>>,
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
    output: output::<Committed>,
    takes: &[Common::Key],
    example: r#"{"workspace": "garden-shed", "branch": "main", "doc": "notes", "message": "Chose SQLite"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Committed>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let entry = NewEntry::try_from(Entry {
        message: input.message,
        content: input.content,
        meta: input.meta,
    })?;
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    super::append(call, wanted, entry, commit::commit)
}
