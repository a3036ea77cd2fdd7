//! `branchmind_graph_conflict_resolve`: one side is chosen.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::conflict_resolve::{self, Settled};
use understory_model::Fault;
use understory_model::answer::Answer;
use understory_model::reasoning::Resolution;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    conflict_id: String,
    #[schemars(extend("enum" = Resolution::CHOICES))]
    resolution: String,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_conflict_resolve",
    title: "Resolve merge conflict",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Settle a conflict: use_from writes the branch's version, use_into keeps what is there.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Settled>,
    takes: &[Common::Key],
    example: r#"{"workspace": "garden-shed", "conflict_id": "conflict-0000000000000000", "resolution": "use_from"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Settled>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let resolution = match Resolution::parse(&input.resolution) {
        Some(chosen @ (Resolution::UseFrom | Resolution::UseInto)) => chosen,
        _ => return Err(Fault::one_of("resolution", &Resolution::CHOICES)),
    };
    call.write(move |work| conflict_resolve::resolve(work, &input.conflict_id, resolution))
}
