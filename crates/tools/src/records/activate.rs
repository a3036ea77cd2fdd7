//! `activate`: load a record with what is needed to reason on.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::activate::{self, Activated, Wanted};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    id: String,
    /// go on although another session has it
    #[serde(default, rename = "override")]
    over: bool,
    /// default: your own
    session_id: Option<String>,
    /// the session that this one continues
    parent_session: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "activate",
    title: "Activate record",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "Load a record with its parent, children and grandchildren, to reason on and change it. Warns when another session has it.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    output: output::<Activated>,
    takes: &[Common::Key, Common::MaxChars],
    example: r#"{"id": "R001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Activated>, Fault> {
    let (id, budget) = (input.id, call.budget);
    let wanted = Wanted {
        override_conflict: input.over,
        session: input.session_id,
        parent_session: input.parent_session,
    };
    // The rule fits its answer itself: what it shows counts as seen.
    let answer = call.write(move |work| activate::activate(work, &id, &wanted, &budget))?;
    Ok(answer.flatten())
}
