//! `get_record_history`: every change of a record.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::history::{self, Asked, History};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, Time, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    id: String,
    /// RFC 3339
    since: Option<String>,
    /// default 50
    limit: Option<i64>,
    cursor: Option<String>,
    /// also each field before and after
    #[serde(default)]
    values: bool,
}

pub const TOOL: Tool = Tool {
    name: "get_record_history",
    title: "Record history",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "A record's changes, newest first, with body diffs; refused updates too.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<History>,
    takes: &[Common::MaxChars],
    example: r#"{"id": "R001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<History>, Fault> {
    let since = input
        .since
        .as_deref()
        .map(|text| Time::parse("since", text))
        .transpose()?;
    let asked = Asked {
        since,
        limit: limit(input.limit, 50, limits::PAGE),
        cursor: input.cursor,
        values: input.values,
    };
    call.read_fit(|view| history::history(view, &input.id, &asked, &call.budget))
}
