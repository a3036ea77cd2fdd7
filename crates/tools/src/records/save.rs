//! `save_session`: a mark that the work got this far.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::save::{self, Saved};
use understory_engine::records::session::Mark;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    summary: Option<String>,
    /// default: your own
    session_id: Option<String>,
    project_id: Option<String>,
}

impl Input {
    pub(super) fn mark(self) -> Result<Mark, Fault> {
        super::check_project("project_id", self.project_id.as_deref())?;
        Mark::new(self.session_id, self.project_id, self.summary)
    }
}

pub const TOOL: Tool = Tool {
    name: "save_session",
    title: "Save session",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "Mark that your work got this far, with a summary for the activity log.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Saved>,
    takes: &[Common::Key],
    example: r#"{"summary": "Settled how tokens rotate"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Saved>, Fault> {
    let mark = input.mark()?;
    call.write(move |work| save::save(work, &mark))
}
