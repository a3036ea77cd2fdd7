//! `branchmind_diff`: entries that one branch shows and another does not.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::reasoning::notes;
use understory_model::Fault;

use crate::args::{decode, schema};
use crate::tool::{Access, Context, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    from: String,
    to: String,
    /// default notes
    doc: Option<String>,
    cursor: Option<i64>,
    /// default 20
    limit: Option<i64>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_diff",
    surface: Surface::Reasoning,
    about: "Entries that branch `to` shows and `from` does not.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    example: r#"{"workspace": "garden-shed", "from": "main", "to": "main"}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let limit = super::limit(input.limit, 20);
    let doc = input.doc.as_deref().unwrap_or("notes");
    let sides = (input.from.as_str(), input.to.as_str());
    context.engine.read(context.caller, |view| {
        match super::two_branches(view, sides, doc)? {
            Some(view) => {
                let (from, to) = sides;
                notes::diff(
                    view.tx,
                    view.ws,
                    (from, to, doc),
                    input.cursor,
                    limit,
                    &budget,
                )
            }
            None => {
                let nothing = json!({
                    "from": sides.0,
                    "to": sides.1,
                    "doc": doc,
                    "entries": [],
                    "pagination": super::no_page(input.cursor, limit),
                });
                Ok(super::nothing_yet(nothing, &budget))
            }
        }
    })
}
