//! `branchmind_think_template`: a card to fill in.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::card;
use understory_engine::reasoning::think_template::{self, Template};
use understory_model::Fault;
use understory_model::answer::{self, Answer};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    #[serde(rename = "type")]
    #[schemars(extend("enum" = card::TYPES))]
    kind: String,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_think_template",
    title: "Card template",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "A card of a type to fill in.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Template>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "type": "hypothesis"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Template>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let kind = card::check_type(&input.kind)?;
    answer::fit(think_template::template(kind), &call.budget)
}
