//! `list_records`: records by their place.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use understory_engine::records::fields::STATES;
use understory_engine::records::list::{self, Asked, Start};
use understory_engine::records::nothing_yet;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, present, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    #[schemars(extend("items" = {"type": "string", "enum": STATES}))]
    states: Vec<String>,
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
    max_chars: Option<i64>,
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
    output: object,
    takes: &[],
    example: r#"{"states": ["OPEN"]}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_project("project_id", input.project_id.as_deref())?;
    list::check_filters(&input.states, &input.types)?;
    let asked = Asked {
        start: match input.parent_id {
            None => Start::Everything,
            Some(None) => Start::Roots,
            Some(Some(parent)) => Start::Below(parent),
        },
        depth: input.depth,
        states: input.states,
        types: input.types,
        metadata: list::metadata(input.metadata.as_ref())?,
        limit: limit(input.limit, 50, limits::PAGE),
        cursor: input.cursor,
    };
    let (caller, project) = (context.caller, input.project_id);
    let budget = budget(input.max_chars);
    context
        .engine
        .read(caller, |view| match (view, &asked.start) {
            (Some(view), _) => list::list(view, caller, project.as_deref(), &asked, &budget),
            (None, Start::Below(parent)) => Err(nothing_yet(parent)),
            (None, _) => {
                super::no_project_yet(caller, project.as_deref())?;
                Ok(json!({ "records": [], "total": 0 }))
            }
        })
}
