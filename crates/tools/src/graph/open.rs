//! `graph_open`: list the projects, or open one, made when it is new.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::graph::open::{self, Opened, Wanted};
use understory_engine::kernel::checked::Check;
use understory_model::Fault;
use understory_model::answer::{self, Answer};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// omit it and goal to list all
    project: Option<String>,
    /// used unless it has one
    goal: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "graph_open",
    title: "Open project",
    effect: Effect::Settles,
    surface: Surface::Graph,
    about: "List projects, or open one by name (created if new) with its root and counts.",
    access: Access::ReadOrWrite,
    essential: false,
    schema: schema::<Input>,
    output: output::<Opened>,
    takes: &[Common::Key, Common::MaxChars],
    example: r#"{"project": "shop", "goal": "Ship the web shop"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Opened>, Fault> {
    let Input { project, goal } = input;
    // A goal without a project is meant for the caller's own.
    let name = project.or_else(|| goal.as_ref().map(|_| call.caller.project.clone()));
    let Some(name) = name else {
        return Ok(call.read_fit(open::list)?.map(Opened::All));
    };
    let wanted = Wanted { name, goal }.checked()?;
    // A retry of the call that made the project must reach the answer that was kept for it.
    let retry = call.request().key.is_some() && call.caller.role.may_write();
    let there = if retry {
        None
    } else {
        call.read(|view| open::find(view, &wanted))?
    };
    let root = match there {
        Some(root) => root,
        None => {
            let made = call.write(move |work| open::create(work, &wanted))?;
            made.typed()?
        }
    };
    let shown = answer::fit(root, &call.budget)?;
    Ok(shown.map(|root| Opened::One(Box::new(root))))
}
