//! `get_active_sessions`: who is working, on a record or at all.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::kernel::checked::Check;
use understory_engine::records::session;
use understory_engine::records::sessions::{self, ActiveSessions, Of};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::claims;
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: everybody who is here
    record_id: Option<String>,
    /// all sessions of one agent
    agent: Option<String>,
    /// default: your own
    session_id: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "get_active_sessions",
    title: "Sessions on a record",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "Who is here and what each is on; with record_id, who has that record active.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<ActiveSessions>,
    takes: &[Common::MaxChars],
    example: r#"{"record_id": "R001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<ActiveSessions>, Fault> {
    let own = input.session_id.as_deref();
    claims::read_session(call, own)?;
    session::name(call.caller, own)?;
    let of = Of { agent: input.agent }.checked()?;
    if of.agent.is_some() && input.record_id.is_some() {
        return Err(
            Fault::invalid("agent", "cannot be given together with record_id")
                .hint("Leave one of them out."),
        );
    }
    call.read_fit(|view| match &input.record_id {
        Some(record) => sessions::working_on(view, own, record),
        None => sessions::here(view, &of),
    })
}
