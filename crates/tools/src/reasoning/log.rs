//! `branchmind_log`: a document, one line an entry.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::reasoning::notes;
use understory_engine::reasoning::place::Wanted;
use understory_model::Fault;

use crate::args::{decode, schema};
use crate::tool::{Access, Context, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    target: Option<String>,
    branch: Option<String>,
    doc: Option<String>,
    /// notes (default) or trace, of a target
    doc_kind: Option<String>,
    cursor: Option<i64>,
    /// default 20
    limit: Option<i64>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_log",
    surface: Surface::Reasoning,
    about: "A document from its end, one line an entry.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "doc_kind": "trace"}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let limit = super::limit(input.limit, 20);
    let kind = super::doc_kind(input.doc_kind.as_deref(), input.target.is_some())?;
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    context.engine.read(context.caller, |view| {
        super::in_document(view, &wanted, kind, |found| match found {
            Ok((view, place)) => {
                notes::lines(view.tx, view.ws, place, input.cursor, limit, &budget)
            }
            Err(place) => {
                let nothing = json!({
                    "branch": place.branch,
                    "doc": place.doc,
                    "entries": [],
                    "pagination": super::no_page(input.cursor, limit),
                });
                Ok(super::nothing_yet(nothing, &budget))
            }
        })
    })
}
