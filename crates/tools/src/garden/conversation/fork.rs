//! `garden_fork`: a conversation of its own, beside the one it comes from.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::conversation::fork::{self, Begun, Fork};
use understory_engine::kernel::checked::Check;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    /// log; default: yours
    parent: Option<String>,
    /// default: you
    participant: Option<String>,
    title: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_fork",
    title: "Fork conversation",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Branch off a conversation; your frame moves into the new log.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Begun>,
    takes: &[Common::Key],
    example: r#"{"title": "Which database?"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Begun>, Fault> {
    let wish = Fork {
        project: input.project,
        parent: input.parent,
        participant: input.participant,
        title: input.title,
    }
    .checked()?;
    call.write(move |work| fork::fork(work, &wish))
}
