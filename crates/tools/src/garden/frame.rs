//! `garden_frame`: where the caller stands, and going elsewhere.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::frame::{self, Move};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    log: Option<String>,
    /// item up to which you have seen it
    head: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_frame",
    title: "Current conversation",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "In which conversation you stand; with log or head, move there.",
    access: Access::ReadOrWrite,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: "{}",
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let wish = Move {
        project: input.project,
        log: input.log,
        head: input.head,
    };
    if wish.only_looks() {
        let (engine, caller) = (context.engine, context.caller);
        return engine.read(caller, |view| match view {
            Some(view) => frame::show(view, caller, wish.project.as_deref()),
            None => frame::nothing_yet(caller, wish.project.as_deref()),
        });
    }
    context
        .engine
        .write_json(context.caller, request, move |work| frame::go(work, &wish))
}
