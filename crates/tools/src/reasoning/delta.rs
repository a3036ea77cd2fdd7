//! `tasks_delta`: changes of plans and tasks, in order.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::reasoning::export;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    since: Option<i64>,
    /// default 50
    limit: Option<i64>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "tasks_delta",
    title: "Task changes",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Changes of plans and tasks after a seq, in order. 0 is the beginning.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "since": 0}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let (since, limit) = (
        input.since.unwrap_or(0).max(0),
        super::limit(input.limit, 50),
    );
    context.engine.read(context.caller, |view| match view {
        Some(view) => export::delta(view, since, limit, &budget),
        None => {
            let nothing = json!({ "events": [], "next_since": since, "has_more": false });
            Ok(super::nothing_yet(nothing, &budget))
        }
    })
}
