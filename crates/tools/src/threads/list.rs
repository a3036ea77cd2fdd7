//! `list_threads`: which threads there are, and what is unread in them.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::threads::list::{self, Asked, Threads};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::thread::Status;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    status: Option<Status>,
    #[serde(default)]
    unread: bool,
    /// not only yours; not for workers
    #[serde(default)]
    all: bool,
    limit: Option<i64>,
    cursor: Option<String>,
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
    output: output::<Threads>,
    takes: &[Common::MaxChars],
    example: r#"{"unread": true}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Threads>, Fault> {
    let asked = Asked {
        status: input.status,
        unread: input.unread,
        all: input.all,
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE).max(1),
    };
    call.read_fit(|view| list::list(view, &asked))
}
