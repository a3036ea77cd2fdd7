//! `garden_relate`: how two things stand to each other.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::garden::relate::{self, New};
use understory_engine::project;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(extend("enum" = relate::KINDS.map(|(kind, _)| kind)))]
    kind: String,
    source: String,
    target: String,
    /// 0 to 1
    confidence: Option<f64>,
    metadata: Option<Map<String, Value>>,
    remove: Option<bool>,
    project: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_relate",
    title: "Relate things",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Relate two things; remove takes back what is only believed.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"kind": "derived_from", "source": "R002", "target": "R001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let new = New {
        kind: input.kind,
        source: input.source,
        target: input.target,
        confidence: input.confidence,
        metadata: input.metadata,
        remove: input.remove.unwrap_or(false),
    };
    relate::check(&new)?;
    let named = input.project;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            project::check_known(work, named.as_deref())?;
            relate::relate(work, &new)
        })
}
