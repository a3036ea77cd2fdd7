//! `reader_proposals`: what waits for a decision.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::reader::{Asked, Proposals, Wanted, proposals};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    artifact: Option<String>,
    /// default open
    #[schemars(with = "Option<String>", extend("enum" = ["open", "accepted", "rejected", "any"]))]
    status: Option<Wanted>,
    cursor: Option<String>,
    limit: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "reader_proposals",
    title: "List proposals",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "Proposals that wait for reader_decide, newest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Proposals>,
    takes: &[Common::MaxChars],
    example: r#"{"artifact": "goals_doc"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Proposals>, Fault> {
    let asked = Asked {
        project: input.project,
        artifact: input.artifact,
        status: input.status.unwrap_or_default(),
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE).max(1),
    };
    call.read_fit(|view| proposals(view, &asked))
}
