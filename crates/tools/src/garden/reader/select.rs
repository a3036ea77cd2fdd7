//! `reader_select`: pointing at lines of an artifact.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::reader::{self, Selected, Setting};
use understory_engine::kernel::checked::Check;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    artifact: String,
    start: i64,
    end: i64,
    /// why
    context: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_select",
    title: "Select lines",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Select lines of an artifact, to refer to them.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Selected>,
    takes: &[Common::Key, Common::MaxChars],
    example: r#"{"artifact": "goals_doc", "start": 1, "end": 2}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Selected>, Fault> {
    let setting = Setting {
        project: input.project,
        context: input.context,
    }
    .checked()?;
    call.write_fit(move |work| {
        reader::select(work, &setting, &input.artifact, input.start, input.end)
    })
}
