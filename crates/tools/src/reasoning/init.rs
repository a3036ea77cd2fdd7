//! `branchmind_init`: makes sure that the workspace is there.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::init::{self, Prepared};
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
}

pub const TOOL: Tool = Tool {
    name: "branchmind_init",
    title: "Prepare workspace",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Make sure the workspace is there.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Prepared>,
    takes: &[Common::Key],
    example: r#"{"workspace": "garden-shed"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Prepared>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let prepared = Prepared {
        workspace: input.workspace,
        storage_dir: call.engine.storage_dir(),
        schema_version: call.engine.schema_version(),
    };
    call.write(move |work| {
        init::init(work)?;
        Ok(prepared.clone())
    })
}
