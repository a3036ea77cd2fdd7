//! `get_recent_activity`: what happened in a project, newest first.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::activity::{self, Asked, RecentActivity};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::record::ActivityKind;
use understory_model::{Fault, Time, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default 50
    limit: Option<i64>,
    /// RFC 3339
    since: Option<String>,
    #[serde(default)]
    types: Vec<ActivityKind>,
    record_id: Option<String>,
    cursor: Option<String>,
    project_id: Option<String>,
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
    output: output::<RecentActivity>,
    takes: &[Common::MaxChars],
    example: r#"{"limit": 10}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<RecentActivity>, Fault> {
    super::check_project("project_id", input.project_id.as_deref())?;
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
    let project = input.project_id.as_deref();
    call.read_fit(|view| activity::recent(view, project, &asked))
}
