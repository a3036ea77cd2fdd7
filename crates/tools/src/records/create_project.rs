//! `create_project`: a new project, by an id or a name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::project;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// must be new
    id: Option<String>,
    name: String,
    description: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "create_project",
    title: "Create project",
    effect: Effect::Settles,
    surface: Surface::Records,
    about: "Create a project. Without id one is made from the name.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"id": "shop", "name": "Web shop", "description": "Sell tea online"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let (id, about) = (input.id, input.description);
    project::check(&input.name, id.as_deref(), about.as_deref())?;
    let name = input.name;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            project::create(work, &name, id.as_deref(), about.as_deref())
        })
}
