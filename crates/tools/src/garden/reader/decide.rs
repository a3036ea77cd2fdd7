//! `reader_decide`: a proposal becomes a commit, or does not.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::reader::{self, Decided, Decision, Setting};
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
    /// prop_001
    proposal: String,
    /// null takes a rejection back
    accept: Option<bool>,
    /// accept this instead
    #[schemars(extend("x-long" = true))]
    content: Option<String>,
    note: Option<String>,
    /// why
    context: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_decide",
    title: "Decide proposal",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Accept a proposal of somebody else, which commits it, or reject any.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Decided>,
    takes: &[Common::Key],
    example: r#"{"proposal": "prop_001", "accept": false, "note": "too slow"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Decided>, Fault> {
    let setting = Setting {
        project: input.project,
        context: input.context,
    }
    .checked()?;
    let wish = Decision {
        proposal: input.proposal,
        accept: input.accept,
        content: input.content,
        note: input.note,
    }
    .checked()?;
    call.write(move |work| reader::decide(work, &setting, &wish))
}
