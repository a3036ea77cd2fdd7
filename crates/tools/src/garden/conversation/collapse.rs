//! `garden_collapse`: a conversation is over, and a summary stands for it.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::conversation::collapse::{self, Collapse, Collapsed};
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
    log: String,
    /// what was learned
    summary: String,
}

pub const TOOL: Tool = Tool {
    name: "garden_collapse",
    title: "Collapse conversation",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "End a conversation with a summary; its participants return to the parent.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Collapsed>,
    takes: &[Common::Key],
    example: r#"{"log": "uuid_0199d3a0-0000-7000-8000-000000000003", "summary": "SQLite holds up to a million items"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Collapsed>, Fault> {
    let over = Collapse {
        project: input.project,
        log: input.log,
        summary: input.summary,
    }
    .checked()?;
    call.write(move |work| collapse::collapse(work, &over))
}
