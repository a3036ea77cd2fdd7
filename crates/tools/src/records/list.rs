//! `list_records`: records by their place.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::records::list::{self, Asked, Filter, Records, Start};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::record::RecordState;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::{present, schema};
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    states: Vec<RecordState>,
    #[serde(default)]
    types: Vec<String>,
    #[serde(default, deserialize_with = "present")]
    #[schemars(extend("nullable" = true))]
    parent_id: Option<Option<String>>,
    /// levels; default 1, for the whole project all
    depth: Option<i64>,
    /// default 50, at most 200
    limit: Option<i64>,
    /// values that must be equal
    metadata: Option<Map<String, Value>>,
    cursor: Option<String>,
    project_id: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "list_records",
    title: "List records",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "List records in tree order. parent_id null: roots; omitted: the whole project.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Records>,
    takes: &[Common::MaxChars],
    example: r#"{"states": ["OPEN"]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Records>, Fault> {
    super::check_project("project_id", input.project_id.as_deref())?;
    let asked = Asked {
        start: match input.parent_id {
            None => Start::Everything,
            Some(None) => Start::Roots,
            Some(Some(parent)) => Start::Below(parent),
        },
        depth: input.depth,
        filter: Filter::new(input.states, input.types, input.metadata.as_ref())?,
        limit: limit(input.limit, 50, limits::PAGE),
        cursor: input.cursor,
    };
    let project = input.project_id.as_deref();
    call.read_fit(|view| list::list(view, project, &asked, &call.budget))
}
