//! `branchmind_graph_conflicts`: conflicts of a merge destination.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::graph_conflicts::{self, Asked, Conflicts};
use understory_engine::reasoning::place::{self, Kind};
use understory_model::answer::Answer;
use understory_model::reasoning::ConflictStatus;
use understory_model::{Fault, Seq};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    into: String,
    doc: Option<String>,
    /// default both
    #[schemars(extend("enum" = ConflictStatus::NAMES))]
    status: Option<String>,
    cursor: Option<i64>,
    /// default 50
    limit: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_conflicts",
    title: "List merge conflicts",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Conflicts of merges into a branch, newest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Conflicts>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "into": "main"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Conflicts>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let status = match input.status.as_deref() {
        None => None,
        Some(name) => Some(
            ConflictStatus::parse(name)
                .ok_or_else(|| Fault::one_of("status", &ConflictStatus::NAMES))?,
        ),
    };
    let named = input.doc.as_deref();
    named.map_or(Ok(()), place::check_doc)?;
    let branches = [input.into.as_str(); 2];
    call.read_fit(|view| {
        let asked = Asked {
            doc: place::of_both(view.tx, view.ws, branches, named, Kind::Graph)?,
            into: input.into.clone(),
            status,
            cursor: input.cursor.map(Seq),
            limit: super::limit(input.limit, 50),
        };
        graph_conflicts::list(view.tx, view.ws, &asked)
    })
}
