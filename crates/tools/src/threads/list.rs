//! `list_threads`: which threads there are, and what is unread in them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::threads::list::{self, Asked};
use understory_engine::threads::status;
use understory_model::page::limit;
use understory_model::thread::STATUSES;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(extend("enum" = STATUSES))]
    status: Option<String>,
    #[serde(default)]
    unread: bool,
    /// not only yours; not for workers
    #[serde(default)]
    all: bool,
    limit: Option<i64>,
    cursor: Option<String>,
    max_chars: Option<i64>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "list_threads",
    title: "List threads",
    effect: Effect::Nothing,
    surface: Surface::Threads,
    about: "Your threads, the last changed first, with what you have not read.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"unread": true}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    if let Some(named) = &input.status {
        status::check_name(named)?;
    }
    let asked = Asked {
        status: input.status,
        unread: input.unread,
        all: input.all,
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE).max(1),
    };
    let (caller, budget) = (context.caller, budget(input.max_chars));
    context.engine.read(caller, |view| match view {
        Some(view) => list::list(view, caller, &asked, &budget),
        None => Ok(json!({ "threads": [], "unread": { "threads": 0, "messages": 0 } })),
    })
}
