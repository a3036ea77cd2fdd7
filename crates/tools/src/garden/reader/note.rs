//! `reader_note`: a remark while reading.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::reader::{self, Noted, Remark, Setting};
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
    #[schemars(extend("x-long" = true))]
    content: String,
    /// why
    context: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_note",
    title: "Add reading note",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Note something while reading.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Noted>,
    takes: &[Common::Key],
    example: r#"{"content": "Line 12 contradicts the plan"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Noted>, Fault> {
    let setting = Setting {
        project: input.project,
        context: input.context,
    }
    .checked()?;
    let remark = Remark {
        content: input.content,
    }
    .checked()?;
    call.write(move |work| reader::note(work, &setting, &remark))
}
