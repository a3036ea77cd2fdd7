//! `sync_session`: what others changed since this session last looked.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::sync::{self, Asked, Synced};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: your own
    session_id: Option<String>,
    project_id: Option<String>,
    /// default and most: 200
    limit: Option<i64>,
    /// next_cursor of the last answer
    cursor: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "sync_session",
    title: "Sync session",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "What others changed since you last synced, each change told once: your active records first, long texts as diffs. Go on while there is next_cursor. A change marked shortened was not seen: activate its record.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Synced>,
    takes: &[Common::Key, Common::MaxChars],
    example: r#"{}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Synced>, Fault> {
    super::check_project("project_id", input.project_id.as_deref())?;
    let asked = Asked {
        session: input.session_id,
        project: input.project_id,
        limit: limit(input.limit, limits::PAGE, limits::PAGE),
        cursor: input.cursor,
    };
    let budget = call.budget;
    // The rule fits its answer itself: what it tells counts as told.
    let answer = call.write(move |work| sync::sync(work, &asked, &budget))?;
    Ok(answer.flatten())
}
