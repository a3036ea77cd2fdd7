//! `reader_select`: pointing at lines of an artifact.

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
    start: i64,
    end: i64,
    max_chars: Option<i64>,
    /// why, for who follows
    context: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_select",
    title: "Select lines",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Select lines of an artifact, to refer to them.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"artifact": "goals_doc", "start": 1, "end": 2}"#,
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
    context
        .engine
        .write_json(context.caller, request, move |work| {
            let range = (input.start, input.end);
            reader::select(work, &setting, &input.artifact, range, &budget)
        })
}
