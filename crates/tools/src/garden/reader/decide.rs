//! `reader_decide`: a proposal becomes a commit, or does not.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::reader::{self, Decision, Setting};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    /// prop_001
    proposal: String,
    accept: bool,
    note: Option<String>,
    /// why, for who follows
    context: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_decide",
    title: "Decide proposal",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Accept a proposal of somebody else, which commits it, or reject any.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"proposal": "prop_001", "accept": false, "note": "too slow"}"#,
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
    let wish = Decision {
        proposal: input.proposal,
        accept: input.accept,
        note: input.note,
    };
    context
        .engine
        .write_json(context.caller, request, move |work| {
            reader::decide(work, &setting, &wish)
        })
}
