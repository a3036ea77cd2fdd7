//! `branchmind_graph_conflict_show`: one conflict, with all its sides.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::reasoning::conflict;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    conflict_id: String,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_conflict_show",
    title: "Show merge conflict",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "A conflict with base, ours (into) and theirs (from).",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "conflict_id": "conflict-0000000000000000"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    context.engine.read(context.caller, |view| match view {
        Some(view) => conflict::show(view, &input.conflict_id, &budget),
        None => Err(conflict::unknown(&input.conflict_id, &[])),
    })
}
