//! `activate`: load a record with what is needed to reason on.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::activate::{self, Wanted};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

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
    max_chars: Option<i64>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
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
    output: object,
    takes: &[],
    example: r#"{"id": "R001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let (id, budget) = (input.id, budget(input.max_chars));
    let wanted = Wanted {
        override_conflict: input.over,
        session: input.session_id,
        parent_session: input.parent_session,
    };
    context
        .engine
        .write_json(context.caller, request, move |work| {
            activate::activate(work, &id, &wanted, &budget)
        })
}
