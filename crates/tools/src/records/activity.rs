//! `get_recent_activity`: what happened in a project, newest first.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::records::activity::{self, Asked};
use understory_engine::records::{event, nothing_yet};
use understory_model::page::limit;
use understory_model::{Fault, Time, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default 50
    limit: Option<i64>,
    /// RFC 3339
    since: Option<String>,
    #[serde(default)]
    #[schemars(extend("items" = {"type": "string", "enum": event::ALL}))]
    types: Vec<String>,
    record_id: Option<String>,
    cursor: Option<String>,
    project_id: Option<String>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "get_recent_activity",
    title: "Recent activity",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "What happened in a project or to a record, newest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"limit": 10}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_project("project_id", input.project_id.as_deref())?;
    activity::check_types(&input.types)?;
    let asked = Asked {
        since: input
            .since
            .as_deref()
            .map(|text| Time::parse("since", text))
            .transpose()?,
        types: input.types,
        record: input.record_id,
        limit: limit(input.limit, 50, limits::PAGE),
        cursor: input.cursor,
    };
    let (caller, project) = (context.caller, input.project_id);
    let budget = budget(input.max_chars);
    context
        .engine
        .read(caller, |view| match (view, &asked.record) {
            (Some(view), _) => activity::recent(view, caller, project.as_deref(), &asked, &budget),
            (None, Some(record)) => Err(nothing_yet(record)),
            (None, None) => {
                super::no_project_yet(caller, project.as_deref())?;
                Ok(json!({ "activity": [] }))
            }
        })
}
