//! `get_active_sessions`: who is working, on a record or at all.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::records::{nothing_yet, session};
use understory_engine::threads::check_agent;
use understory_engine::who;
use understory_model::Fault;
use understory_model::budget::{Drop, fit_list};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::claims;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: everybody who is here
    record_id: Option<String>,
    /// all sessions of one agent
    agent: Option<String>,
    /// default: your own
    session_id: Option<String>,
    max_chars: Option<i64>,
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
    output: object,
    takes: &[],
    example: r#"{"record_id": "R001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    claims::read_session(context, input.session_id.as_deref())?;
    let (caller, own) = (context.caller, input.session_id.as_deref());
    session::name(caller, own)?;
    let agent = input.agent.as_deref();
    if let Some(agent) = agent {
        check_agent("agent", agent)?;
    }
    if agent.is_some() && input.record_id.is_some() {
        return Err(
            Fault::invalid("agent", "cannot be given together with record_id")
                .hint("Leave one of them out."),
        );
    }
    let found = context
        .engine
        .read(caller, |view| match (view, &input.record_id) {
            (Some(view), Some(record)) => session::working_on(view, caller, own, record),
            (Some(view), None) => Ok(json!({ "sessions": who::here(view, caller, agent)? })),
            (None, Some(record)) => Err(nothing_yet(record)),
            (None, None) => Ok(json!({ "sessions": [] })),
        })?;
    Ok(fit_list(
        found,
        "sessions",
        &budget(input.max_chars),
        Drop::Last,
    ))
}
