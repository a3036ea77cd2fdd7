//! `who`: the agents that are here, and how each can be reached.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::kernel::checked::Check;
use understory_engine::system::who::{self, Wanted, Who};
use understory_model::Fault;
use understory_model::answer::{self, Answer};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// only this one, gone or not
    agent: Option<String>,
    /// also those who left lately
    #[serde(default)]
    gone: bool,
}

pub const TOOL: Tool = Tool {
    name: "who",
    title: "Who is here",
    effect: Effect::Nothing,
    surface: Surface::System,
    about: "The agents that are here, what each works on, and how a message reaches it.",
    access: Access::Read,
    essential: true,
    schema: schema::<Input>,
    output: output::<Who>,
    takes: &[Common::MaxChars],
    example: r#"{"gone": true}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Who>, Fault> {
    let wanted = Wanted {
        agent: input.agent,
        gone: input.gone,
    }
    .checked()?;
    let found = call
        .engine
        .view(call.caller, |view| who::who(view, call.caller, &wanted))?;
    answer::fit(found, &call.budget)
}
