//! `garden_refs`: what the references in a text stand for.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::relation::refs::{self, References, Text};
use understory_engine::kernel::checked::Check;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::garden::scope;
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(extend("x-long" = true))]
    content: String,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_refs",
    title: "Resolve references",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "The references in a text (^a7f, label:3, @item_…, uuid_…) and what each means.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<References>,
    takes: &[Common::MaxChars],
    example: r#"{"content": "See goals_doc:3, as @r001 says"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<References>, Fault> {
    let text = Text {
        content: input.content,
    }
    .checked()?;
    call.read_fit(|view| {
        let scope = scope(view, input.project.as_deref())?;
        refs::resolve(view.tx, scope, call.caller, &text)
    })
}
