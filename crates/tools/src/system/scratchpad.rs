//! `scratchpad`: the working text that everybody at a task or in a conversation shares.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::kernel::checked::Check;
use understory_engine::system::scratchpad::{self, Asked, Keep, Of, Scratchpad};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

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
    output: output::<Scratchpad>,
    takes: &[Common::Key, Common::MaxChars],
    example: r#"{"task": "PLAN-001", "write": "Tried A: too slow.\nNext: B", "keep": ["Tried A: too slow."]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Scratchpad>, Fault> {
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
    }
    .checked()?;
    if asked.only_reads() {
        return call.read_fit(|view| scratchpad::read(view, &asked));
    }
    let budget = call.budget;
    let written = call.write(move |work| scratchpad::write(work, &asked, &budget))?;
    Ok(written.flatten())
}
