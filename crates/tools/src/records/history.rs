//! `get_record_history`: every change of a record.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::{history, nothing_yet};
use understory_model::page::limit;
use understory_model::{Fault, Time, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    id: String,
    /// RFC 3339
    since: Option<String>,
    /// default 50
    limit: Option<i64>,
    cursor: Option<String>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "get_record_history",
    title: "Record history",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "A record's changes, newest first, with body diffs; refused updates too.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"id": "R001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let since = input
        .since
        .as_deref()
        .map(|text| Time::parse("since", text))
        .transpose()?;
    let most = limit(input.limit, 50, limits::PAGE);
    let (cursor, budget) = (input.cursor.as_deref(), budget(input.max_chars));
    context.engine.read(context.caller, |view| match view {
        Some(view) => history::history(view, &input.id, since, most, cursor, &budget),
        None => Err(nothing_yet(&input.id)),
    })
}
