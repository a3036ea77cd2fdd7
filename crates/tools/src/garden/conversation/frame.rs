//! `garden_frame`: where the caller stands, and going elsewhere.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::conversation::frame::{self, Framed, Move};
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
    log: Option<String>,
    /// the last item seen
    head: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_frame",
    title: "Current conversation",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "In which conversation you stand; with log or head, move there.",
    access: Access::ReadOrWrite,
    essential: false,
    schema: schema::<Input>,
    output: output::<Framed>,
    takes: &[Common::Key],
    example: "{}",
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Framed>, Fault> {
    let wish = Move {
        project: input.project,
        log: input.log,
        head: input.head,
    };
    if wish.only_looks() {
        let frame = call.read(|view| frame::show(view, wish.project.as_deref()))?;
        return Ok(frame.into());
    }
    call.write(move |work| frame::go(work, &wish))
}
