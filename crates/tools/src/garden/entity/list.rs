//! `garden_entities`: entities by type, group or text.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::entity::list::{self, Asked, Entities};
use understory_engine::kernel::checked::Check;
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
    #[serde(rename = "type")]
    kind: Option<String>,
    /// group_id of its members
    group: Option<String>,
    /// anywhere in the data
    text: Option<String>,
    superseded: Option<bool>,
    project: Option<String>,
    cursor: Option<String>,
    limit: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_entities",
    title: "List entities",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "List entities by type, group or text, newest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Entities>,
    takes: &[Common::MaxChars],
    example: r#"{"type": "service"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Entities>, Fault> {
    let asked = Asked {
        kind: input.kind,
        group: input.group,
        text: input.text,
        superseded: input.superseded.unwrap_or(false),
        project: input.project,
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE).max(1),
    }
    .checked()?;
    call.read_fit(|view| list::listed(view, &asked))
}
