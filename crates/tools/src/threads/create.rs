//! `create_thread`: a new thread between agents.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::kernel::checked::Check;
use understory_engine::threads::create::{self, Created, NewThread};
use understory_model::answer::Answer;
use understory_model::thread::Purpose;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::claims;
use crate::tool::{Access, Common, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    title: String,
    /// default conversation
    #[serde(rename = "type")]
    purpose: Option<Purpose>,
    /// agent ids; you take part anyway
    #[serde(default)]
    #[schemars(length(max = limits::PARTICIPANTS))]
    participants: Vec<String>,
    workspace_id: Option<String>,
    created_by: Option<String>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "create_thread",
    title: "Create thread",
    effect: Effect::Adds,
    surface: Surface::Threads,
    about: "Open a thread with other agents about one thing.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Created>,
    takes: &[Common::Key],
    example: r#"{"title": "Review of the token rotation", "type": "workflow", "participants": ["builder", "reviewer"]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Created>, Fault> {
    claims::workspace(call, input.workspace_id.as_deref())?;
    claims::agent(call, "created_by", input.created_by.as_deref())?;
    let new = NewThread {
        title: input.title,
        purpose: input.purpose.unwrap_or(Purpose::Conversation),
        participants: input.participants,
    }
    .checked()?;
    call.write(move |work| create::create(work, &new))
}
