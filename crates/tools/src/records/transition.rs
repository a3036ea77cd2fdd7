//! `transition`: the next state of an active record.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::fields::STATES;
use understory_engine::records::transition::{self, Wanted};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    id: String,
    #[schemars(extend("enum" = STATES))]
    to_state: String,
    /// required for LATER and DISCARDED
    reason: Option<String>,
    /// another record of the project that settles it; required for RESOLVED
    resolved_by: Option<String>,
    /// default: your own
    session_id: Option<String>,
    /// false: only its head comes back
    echo: Option<bool>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "transition",
    title: "Change record state",
    effect: Effect::Settles,
    surface: Surface::Records,
    about: "Change an active record's state: OPEN to LATER, RESOLVED or DISCARDED; LATER to OPEN or DISCARDED; back to OPEN.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"id": "R001", "to_state": "RESOLVED", "resolved_by": "R002"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let wanted = Wanted {
        to: input.to_state,
        reason: input.reason,
        resolved_by: input.resolved_by,
    };
    transition::check(&wanted)?;
    let (id, session) = (input.id, input.session_id);
    let answer = context
        .engine
        .write_json(context.caller, request, move |work| {
            transition::transition(work, &id, &wanted, session.as_deref())
        })?;
    match transition::refusal(&answer) {
        Some(fault) => Err(fault),
        None => Ok(super::echoed(answer, input.echo)),
    }
}
