//! `garden_entity_revert`: give an entity the value that it had.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::entity::{BasedOn, Changed, revert};
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
    uuid: String,
    /// hash or version
    #[schemars(extend("type" = ["integer", "string"]))]
    to: Value,
    based_on_hash: String,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_entity_revert",
    title: "Revert entity",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Give an entity the value of an earlier version, as its next version.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Changed>,
    takes: &[Common::Key],
    example: r#"{"uuid": "entity_0199d3a0-0000-7000-8000-000000000000", "to": 1, "based_on_hash": "5f1c…"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Changed>, Fault> {
    let based_on = BasedOn {
        hash: input.based_on_hash,
        version: None,
    };
    let (uuid, to, named) = (input.uuid, input.to, input.project);
    call.write(move |work| {
        project::check_known(work, named.as_deref())?;
        revert::revert(work, &uuid, &to, &based_on)
    })
}
