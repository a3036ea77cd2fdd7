//! `get_project_overview`: where the reasoning stands, for a chat that begins.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::overview::{self, Overview};
use understory_model::answer::{self, Answer};
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: your project
    project_id: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "get_project_overview",
    title: "Records overview",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "The records of a project: open sessions, root, open and deferred records, recent activity. max_chars: default 8000.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Overview>,
    takes: &[Common::MaxChars],
    example: r#"{}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Overview>, Fault> {
    let project = input.project_id.as_deref();
    super::check_project("project_id", project)?;
    let budget = call.budget_or(limits::OVERVIEW_CHARS);
    let found = call.read(|view| overview::overview(view, project, &budget))?;
    answer::fit(found, &budget)
}
