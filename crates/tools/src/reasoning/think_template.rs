//! `branchmind_think_template`: a card to fill in.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::reasoning::card;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    #[serde(rename = "type")]
    #[schemars(extend("enum" = card::TYPES))]
    kind: String,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
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
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "type": "hypothesis"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    card::check_type(&input.kind)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let answer = json!({
        "type": input.kind,
        "supported_types": card::TYPES,
        "template": card::template(&input.kind),
        "truncated": false,
    });
    Ok(understory_model::budget::fit_whole(answer, &budget))
}
