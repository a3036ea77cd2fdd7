//! `garden_timeline`: what happened, newest first.

pub mod add;
pub mod get;
pub mod trace;
pub mod undo;
pub mod why;

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::timeline::{self, Asked, Timeline, clock, last_moment, moment};
use understory_engine::kernel::project;
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[add::TOOL, get::TOOL, TOOL, undo::TOOL, trace::TOOL];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    types: Option<Vec<String>>,
    actor: Option<String>,
    log: Option<String>,
    entity: Option<String>,
    since: Option<String>,
    until: Option<String>,
    /// default realized
    #[schemars(extend("enum" = ["realized", "canonical"]))]
    clock: Option<String>,
    project: Option<String>,
    cursor: Option<String>,
    /// default 50
    limit: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_timeline",
    title: "Timeline",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "Everything that happened on any surface, newest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Timeline>,
    takes: &[Common::MaxChars],
    example: r#"{"types": ["Message"], "limit": 10}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Timeline>, Fault> {
    let types = input.types.unwrap_or_default();
    if types.len() > limits::TIMELINE_TYPES {
        return Err(Fault::invalid(
            "types",
            format!("at most {} at once", limits::TIMELINE_TYPES),
        ));
    }
    let asked = Asked {
        types,
        actor: input.actor,
        log: input.log,
        entity: input.entity,
        since: moment("since", input.since.as_deref())?,
        until: last_moment("until", input.until.as_deref())?,
        canonical: clock(input.clock.as_deref())?,
        project: input.project,
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE),
    };
    call.read_fit(|view| {
        project::to_read(view, view.caller, asked.project.as_deref())?;
        timeline::timeline(view, &asked)
    })
}
