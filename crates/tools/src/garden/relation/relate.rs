//! `garden_relate`: how two things stand to each other.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::garden::relation::relate::{self, New, Related};
use understory_engine::kernel::checked::Check;
use understory_engine::kernel::content::relation;
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
    #[schemars(extend("enum" = relation::KINDS.map(|(kind, _)| kind)))]
    kind: String,
    source: String,
    target: String,
    /// 0 to 1
    confidence: Option<f64>,
    metadata: Option<Map<String, Value>>,
    remove: Option<bool>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_relate",
    title: "Relate things",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Relate two things; remove deletes an asserted relation, not a recorded fact.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Related>,
    takes: &[Common::Key],
    example: r#"{"kind": "derived_from", "source": "R002", "target": "R001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Related>, Fault> {
    let new = New {
        kind: input.kind,
        source: input.source,
        target: input.target,
        confidence: input.confidence,
        metadata: input.metadata,
        remove: input.remove.unwrap_or(false),
    }
    .checked()?;
    let named = input.project;
    call.write(move |work| {
        project::check_known(work, named.as_deref())?;
        relate::relate(work, &new)
    })
}
