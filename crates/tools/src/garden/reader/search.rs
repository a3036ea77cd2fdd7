//! `reader_search`: which passages of an artifact answer a query.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::reader::{self, Setting};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    artifact: String,
    query: String,
    max_chars: Option<i64>,
    /// why, for who follows
    context: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_search",
    title: "Search artifact",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Find passages of an artifact, by meaning and by words.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"artifact": "goals_doc", "query": "how fast"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let setting = Setting {
        project: input.project,
        context: input.context,
    };
    setting.check()?;
    let budget = budget(input.max_chars);
    let (engine, caller) = (context.engine, context.caller);
    let hits = engine.read(caller, |view| match view {
        Some(view) => reader::look_up(view, caller, &setting, &input.artifact, &input.query),
        None => reader::nothing_yet(caller, &setting, &input.artifact),
    })?;
    engine.write_json(caller, request, move |work| {
        reader::search(work, &setting, &hits, &budget)
    })
}
