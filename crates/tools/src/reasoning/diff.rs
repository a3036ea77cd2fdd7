//! `branchmind_diff`: entries that one branch shows and another does not.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::View;
use understory_engine::reasoning::diff::{self, Diff};
use understory_engine::reasoning::notes::Asked;
use understory_engine::reasoning::place::{self, Kind};
use understory_model::answer::{Answer, Fit};
use understory_model::{Fault, Seq};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
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
    output: output::<Diff>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "from": "main", "to": "main"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Diff>, Fault> {
    compared(call, &input, Kind::Notes, |view, sides, asked| {
        diff::diff(view.tx, view.ws, sides, asked)
    })
}

/// Compares a document of two branches.
pub(super) fn compared<T: Fit>(
    call: &Call<'_>,
    input: &Input,
    kind: Kind,
    diff: impl FnOnce(&mut View<'_, '_>, (&str, &str, &str), Asked) -> Result<T, Fault>,
) -> Result<Answer<T>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let asked = Asked {
        cursor: input.cursor.map(Seq),
        limit: super::limit(input.limit, 20),
    };
    let named = input.doc.as_deref();
    named.map_or(Ok(()), place::check_doc)?;
    let (from, to) = (input.from.as_str(), input.to.as_str());
    call.read_fit(|view| {
        let doc = place::of_both(view.tx, view.ws, [from, to], named, kind)?;
        diff(view, (from, to, &doc), asked)
    })
}
