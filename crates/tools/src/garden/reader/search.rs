//! `reader_search`: which passages of an artifact answer a query.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::reader::{self, Passages, Query, Setting};
use understory_engine::kernel::checked::Check;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    artifact: String,
    query: String,
    /// why
    context: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_search",
    title: "Search artifact",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Find passages of an artifact, by meaning and by words.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Passages>,
    takes: &[Common::Key, Common::MaxChars],
    example: r#"{"artifact": "goals_doc", "query": "how fast"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Passages>, Fault> {
    let setting = Setting {
        project: input.project,
        context: input.context,
    }
    .checked()?;
    let asked = Query {
        artifact: input.artifact,
        query: input.query,
    }
    .checked()?;
    let hits = call.read(|view| reader::look_up(view, &setting, &asked))?;
    call.write_fit(move |work| reader::search(work, &setting, &hits))
}
