//! `branchmind_show`: the end of a document as a branch sees it.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::View;
use understory_engine::reasoning::notes::{Asked, Page};
use understory_engine::reasoning::place::{self, Place, Wanted};
use understory_engine::reasoning::shape::Entry;
use understory_engine::reasoning::show;
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
    target: Option<String>,
    branch: Option<String>,
    doc: Option<String>,
    /// of a target; default notes
    #[schemars(extend("enum" = ["notes", "trace"]))]
    doc_kind: Option<String>,
    cursor: Option<i64>,
    /// default 20
    limit: Option<i64>,
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
    output: output::<Page<Entry>>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "doc_kind": "trace"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Page<Entry>>, Fault> {
    read(call, input, |view, place, asked| {
        show::show(view.tx, view.ws, place, asked)
    })
}

/// Reads a document from its end, in the form that is asked for.
pub(super) fn read<T: Fit>(
    call: &Call<'_>,
    input: Input,
    shown: impl FnOnce(&mut View<'_, '_>, Place, Asked) -> Result<T, Fault>,
) -> Result<Answer<T>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let asked = Asked {
        cursor: input.cursor.map(Seq),
        limit: super::limit(input.limit, 20),
    };
    let kind = super::doc_kind(input.doc_kind.as_deref(), input.target.is_some())?;
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    call.read_fit(|view| {
        let place = place::find(view.tx, view.ws, &wanted, kind, false)?;
        shown(view, place, asked)
    })
}
