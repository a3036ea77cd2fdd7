//! `get_thread`: a thread and who takes part in it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::threads::{list, nothing_yet};
use understory_model::Fault;
use understory_model::budget::fit_lists;

use crate::args::{budget, decode, schema};
use crate::tool::{Access, Context, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "get_thread",
    title: "Show thread",
    effect: Effect::Nothing,
    surface: Surface::Threads,
    about: "A thread: title, status, participants, how much you have read.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    example: r#"{"thread_id": "th_001"}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let Input {
        thread_id,
        max_chars,
    } = decode(args)?;
    let (caller, budget) = (context.caller, budget(max_chars));
    let mut shown = context.engine.read(caller, |view| match view {
        Some(view) => list::get(view, caller, &thread_id),
        None => Err(nothing_yet(&thread_id)),
    })?;
    Ok(
        match fit_lists(&mut shown, &["/readers", "/participants"], &budget) {
            true => shown,
            false => json!({ "truncated": true }),
        },
    )
}
