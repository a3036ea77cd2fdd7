//! `reader_propose`: other words for some lines.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::reader::{self, Proposal, Setting};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    artifact: String,
    start: i64,
    /// start - 1 inserts before start
    end: i64,
    /// empty takes the lines away
    #[schemars(extend("x-long" = true))]
    content: String,
    reasoning: String,
    /// why, for who follows
    context: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_propose",
    title: "Propose change",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Propose other text for lines; reader_decide accepts or rejects it.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"artifact": "goals_doc", "start": 2, "end": 2, "content": "1. Fast enough", "reasoning": "nobody waits longer"}"#,
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
    let wish = Proposal {
        artifact: input.artifact,
        start: input.start,
        end: input.end,
        content: input.content,
        reasoning: input.reasoning,
    };
    reader::check_proposal(&wish)?;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            reader::propose(work, &setting, &wish)
        })
}
