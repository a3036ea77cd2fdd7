//! `scratchpad`: the working text that everybody at a task or in a conversation shares.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::scratchpad::{self, Asked, Keep, Of};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// graph node
    task: Option<String>,
    log: Option<String>,
    /// the new text
    write: Option<String>,
    /// add to the text instead
    #[serde(default)]
    append: bool,
    /// CONFLICT if another was written since
    expected_rev: Option<i64>,
    /// passages to make one Note of; true: all of it
    #[schemars(with = "Option<Vec<String>>", extend("type" = ["array", "string", "boolean"]))]
    keep: Option<Kept>,
    max_chars: Option<i64>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "must be true, a string or an array of strings")]
enum Kept {
    All(bool),
    One(String),
    These(Vec<String>),
}

pub const TOOL: Tool = Tool {
    name: "scratchpad",
    title: "Scratchpad",
    effect: Effect::Erases,
    surface: Surface::System,
    about: "Shared working text of a task or log: read, write, keep parts as a Note. Forgotten when the task is resolved or the log collapsed.",
    access: Access::ReadOrWrite,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"task": "PLAN-001", "write": "Tried A: too slow.\nNext: B", "keep": ["Tried A: too slow."]}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let of = match (input.task, input.log) {
        (Some(task), None) => Of::Task(task),
        (None, Some(log)) => Of::Log(log),
        (Some(_), Some(_)) => return Err(Fault::invalid("log", "cannot be combined with task")),
        (None, None) => return Err(Fault::invalid("task", "either task or log is required")),
    };
    let asked = Asked {
        of,
        write: input.write,
        append: input.append,
        expected_rev: input.expected_rev,
        keep: match input.keep {
            None | Some(Kept::All(false)) => None,
            Some(Kept::All(true)) => Some(Keep::All),
            Some(Kept::One(text)) => Some(Keep::These(vec![text])),
            Some(Kept::These(texts)) => Some(Keep::These(texts)),
        },
    };
    scratchpad::check(&asked)?;
    let budget = budget(input.max_chars);
    let (engine, caller) = (context.engine, context.caller);
    if asked.only_reads() {
        return engine.read(caller, |view| match view {
            Some(view) => scratchpad::read(view, &asked, &budget),
            None => Err(scratchpad::nothing_yet(&asked.of)),
        });
    }
    engine.write_json(caller, request, move |work| {
        scratchpad::write(work, &asked, &budget)
    })
}
