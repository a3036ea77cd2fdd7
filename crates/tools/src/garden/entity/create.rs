//! `garden_entity_create`: something to believe in, version by version.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::garden::entity::Changed;
use understory_engine::garden::entity::create::{self, New};
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
    r#type: String,
    data: Map<String, Value>,
    group_id: Option<String>,
    derived_from: Option<String>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_entity_create",
    title: "Create entity",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Make an entity of any type; its changes are kept and chained by hash.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Changed>,
    takes: &[Common::Key],
    example: r#"{"type": "service", "data": {"name": "billing", "port": 8080}}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Changed>, Fault> {
    let new = New {
        kind: input.r#type,
        data: input.data,
        group_id: input.group_id,
        derived_from: input.derived_from,
        project: input.project,
    }
    .checked()?;
    call.write(move |work| create::create(work, &new))
}
