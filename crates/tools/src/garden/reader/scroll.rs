//! `reader_scroll`: looking at lines of an artifact.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::reader::{self, Scroll, Scrolled, Setting, Way};
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
    start: Option<i64>,
    end: Option<i64>,
    /// lines
    up: Option<i64>,
    down: Option<i64>,
    /// why
    context: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_scroll",
    title: "Scroll artifact",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Look at lines of an artifact, or move up or down.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Scrolled>,
    takes: &[Common::Key, Common::MaxChars],
    example: r#"{"artifact": "goals_doc", "start": 1, "end": 40}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Scrolled>, Fault> {
    let setting = Setting {
        project: input.project,
        context: input.context,
    }
    .checked()?;
    let way = Way::try_from(Scroll {
        start: input.start,
        end: input.end,
        up: input.up,
        down: input.down,
    })?;
    call.write_fit(move |work| reader::scroll(work, &setting, &input.artifact, way))
}
