//! `close_session`: the end of a session.

use understory_engine::records::close::{self, Closed};
use understory_model::Fault;
use understory_model::answer::Answer;

use super::save::Input;
use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

pub const TOOL: Tool = Tool {
    name: "close_session",
    title: "Close session",
    effect: Effect::Settles,
    surface: Surface::Records,
    about: "End your session: its records are no longer active. Using it again starts fresh.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Closed>,
    takes: &[Common::Key],
    example: r#"{"summary": "Settled how tokens rotate"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Closed>, Fault> {
    let mark = input.mark()?;
    call.write(move |work| close::close(work, &mark))
}
