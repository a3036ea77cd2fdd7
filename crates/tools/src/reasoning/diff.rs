//! `branchmind_diff`: entries that one branch shows and another does not.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::View;
use understory_engine::reasoning::notes::{self, Asked};
use understory_engine::reasoning::place::{self, Kind};
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
    from: String,
    to: String,
    /// default: the branches' own
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
    title: "Compare notes",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Entries that branch `to` shows and `from` does not.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "from": "main", "to": "main"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    compared(
        context,
        args,
        "entries",
        Kind::Notes,
        |view, sides, page, budget| notes::diff(view.tx, view.ws, sides, page, budget),
    )
}

/// Compares a document of two branches; `list` is what the answer calls its rows.
pub(super) fn compared(
    context: &Call<'_>,
    args: Value,
    list: &str,
    kind: Kind,
    diff: impl Fn(&mut View<'_, '_>, (&str, &str, &str), Asked, &Budget) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let asked = Asked {
        cursor: input.cursor,
        limit: super::limit(input.limit, 20),
    };
    let named = input.doc.as_deref();
    named.map_or(Ok(()), place::check_doc)?;
    let (from, to) = (input.from.as_str(), input.to.as_str());
    context.engine.read(context.caller, |view| match view {
        Some(view) => {
            let doc = place::of_both(view.tx, view.ws, (from, to), named, kind)?;
            diff(view, (from, to, &doc), asked, &budget)
        }
        None => {
            let doc = place::of_both_nothing((from, to), named, kind)?;
            let nothing = json!({
                "from": from,
                "to": to,
                "doc": doc,
                list: [],
                "pagination": super::no_page(asked.cursor, asked.limit),
            });
            Ok(super::nothing_yet(nothing, &budget))
        }
    })
}
