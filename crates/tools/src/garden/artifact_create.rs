//! `garden_artifact_create`: a document that changes by lines.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::artifact::create::{self, New};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// letters, digits and _
    label: String,
    /// its first text
    #[schemars(extend("x-long" = true))]
    content: Option<String>,
    project: Option<String>,
    #[serde(rename = "idempotency_key")]
    _key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_create",
    title: "Create artifact",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Make a document whose every line can be traced.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r##"{"label": "goals_doc", "content": "# Goals\n1. Fast\n"}"##,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let new = New {
        label: input.label,
        content: input.content,
        project: input.project,
    };
    create::check(&new)?;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            create::create(work, &new)
        })
}
