//! `get_project_overview`: where the reasoning stands, for a chat that begins.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::overview;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: your project
    project_id: Option<String>,
    /// default 8000
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "get_project_overview",
    title: "Records overview",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "The records of a project: open sessions, root, open and deferred records, recent activity.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_project("project_id", input.project_id.as_deref())?;
    let (caller, budget) = (
        context.caller,
        budget(input.max_chars.or(Some(overview::CHARS))),
    );
    context.engine.read(caller, |view| {
        overview::overview(view, caller, input.project_id.as_deref(), &budget)
    })
}
