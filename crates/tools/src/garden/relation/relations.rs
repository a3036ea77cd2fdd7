//! `garden_relations`: what a thing is related to.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::relation::relations::{self, Asked, Relations, directions};
use understory_engine::kernel::checked::Check;
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::garden::scope;
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    of: String,
    kind: Option<String>,
    /// default both
    #[schemars(extend("enum" = ["out", "in", "both"]))]
    direction: Option<String>,
    /// 0 to 1
    min_confidence: Option<f64>,
    /// 0 to 1
    min_strength: Option<f64>,
    project: Option<String>,
    cursor: Option<String>,
    limit: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_relations",
    title: "List relations",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "A thing's relations, with a glimpse of the other end.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Relations>,
    takes: &[Common::MaxChars],
    example: r#"{"of": "R001", "direction": "in"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Relations>, Fault> {
    let (outgoing, incoming) = directions(input.direction.as_deref())?;
    let asked = Asked {
        of: input.of,
        kind: input.kind,
        outgoing,
        incoming,
        min_confidence: input.min_confidence,
        min_strength: input.min_strength,
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE),
    }
    .checked()?;
    call.read_fit(|view| {
        let scope = scope(view, input.project.as_deref())?;
        relations::relations(view, scope, &asked)
    })
}
