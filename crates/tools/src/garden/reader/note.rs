//! `reader_note`: a remark while reading.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::reader::{self, Setting};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    #[schemars(extend("x-long" = true))]
    content: String,
    /// why, for who follows
    context: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_note",
    title: "Add reading note",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Note something while reading.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"content": "Line 12 contradicts the plan"}"#,
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
    context
        .engine
        .write_json(context.caller, request, move |work| {
            reader::note(work, &setting, &input.content)
        })
}
