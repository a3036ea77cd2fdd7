//! `trigger_participant`: a job of waking somebody.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::kernel::checked::Check;
use understory_engine::threads::trigger::{self, Triggered, Wish};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    /// a participant
    target_agent_id: String,
    reason: Option<String>,
    /// what it is told
    trigger_prompt: Option<String>,
    /// over a half-typed line and the limits; operators, with `reason`
    force: Option<bool>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "trigger_participant",
    title: "Wake participant",
    effect: Effect::Adds,
    surface: Surface::Threads,
    about: "Have a participant woken who has not read a thread; says what is done and what is not.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Triggered>,
    takes: &[Common::Key],
    example: r#"{"thread_id": "th_001", "target_agent_id": "reviewer", "reason": "new_unread_messages"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Triggered>, Fault> {
    let wish = Wish {
        target: input.target_agent_id,
        reason: input.reason,
        prompt: input.trigger_prompt,
        force: input.force.unwrap_or(false),
    }
    .checked()?;
    let thread = input.thread_id;
    call.write(move |work| trigger::trigger(work, &thread, &wish))
}
