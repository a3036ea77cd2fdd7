//! `branchmind_show`: the end of a document as a branch sees it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::View;
use understory_engine::reasoning::notes::{self, Asked};
use understory_engine::reasoning::place::{Place, Wanted};
use understory_model::Fault;
use understory_model::budget::Budget;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    workspace: String,
    target: Option<String>,
    branch: Option<String>,
    doc: Option<String>,
    /// of a target; default notes
    #[schemars(extend("enum" = ["notes", "trace"]))]
    doc_kind: Option<String>,
    cursor: Option<i64>,
    /// default 20
    limit: Option<i64>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_show",
    title: "Show document",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Read a document from its end, as its branch sees it.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "doc_kind": "trace"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    read(context, args, |view, place, page, budget| {
        notes::show(view.tx, view.ws, place, page, budget)
    })
}

/// Reads a document from its end, in the form that is asked for.
pub(super) fn read(
    context: &Call<'_>,
    args: Value,
    shown: impl Fn(&mut View<'_, '_>, Place, Asked, &Budget) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let asked = Asked {
        cursor: input.cursor,
        limit: super::limit(input.limit, 20),
    };
    let kind = super::doc_kind(input.doc_kind.as_deref(), input.target.is_some())?;
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    context.engine.read(context.caller, |view| {
        super::in_document(view, &wanted, kind, |found| match found {
            Ok((view, place)) => shown(view, place, asked, &budget),
            Err(place) => {
                let nothing = json!({
                    "branch": place.branch,
                    "doc": place.doc,
                    "entries": [],
                    "pagination": super::no_page(asked.cursor, asked.limit),
                });
                Ok(super::nothing_yet(nothing, &budget))
            }
        })
    })
}
