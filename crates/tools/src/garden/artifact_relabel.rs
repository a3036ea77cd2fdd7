//! `garden_artifact_relabel`: another label for an artifact.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::artifact::{check_label, relabel};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    artifact: String,
    /// letters, digits and _
    label: String,
    project: Option<String>,
    #[serde(rename = "idempotency_key")]
    _key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_relabel",
    title: "Relabel artifact",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Give an artifact another label; the old one still finds it.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"artifact": "goals_doc", "label": "aims"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    check_label(&input.label)?;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            relabel::relabel(
                work,
                input.project.as_deref(),
                &input.artifact,
                &input.label,
            )
        })
}
