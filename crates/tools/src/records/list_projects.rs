//! `list_projects`: every project, with what is open in it.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::list_projects::{self, Projects};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {}

pub const TOOL: Tool = Tool {
    name: "list_projects",
    title: "List projects",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "All projects with their tick, open sessions and open records.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Projects>,
    takes: &[Common::MaxChars],
    example: r#"{}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, _: Input) -> Result<Answer<Projects>, Fault> {
    call.read_fit(list_projects::list)
}
