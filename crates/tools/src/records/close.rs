//! `close_session`: the end of a session.

use serde_json::Value;
use understory_engine::records::session;
use understory_model::Fault;

use super::save::{Input, marked};
use crate::answers::object;
use crate::args::schema;
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

pub const TOOL: Tool = Tool {
    name: "close_session",
    title: "Close session",
    effect: Effect::Settles,
    surface: Surface::Records,
    about: "End your session: its records are no longer active. Using it again starts fresh.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"summary": "Settled how tokens rotate"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    marked(context, TOOL.name, args, session::close)
}
