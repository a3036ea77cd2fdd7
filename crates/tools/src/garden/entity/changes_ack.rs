//! `garden_changes_ack`: say that you have dealt with changes.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::entity::changes_ack::{self, Acknowledged};
use understory_engine::kernel::project;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    cursor: String,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_changes_ack",
    title: "Acknowledge changes",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Acknowledge changes up to a cursor of garden_changes.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Acknowledged>,
    takes: &[Common::Key],
    example: r#"{"cursor": "…"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Acknowledged>, Fault> {
    call.write(move |work| {
        project::check_known(work, input.project.as_deref())?;
        changes_ack::ack(work, &input.cursor)
    })
}
