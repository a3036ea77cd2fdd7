//! `branchmind_merge`: notes of one branch copied into another, each once.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::reasoning::merge::{self, Asked};
use understory_engine::reasoning::place;
use understory_engine::{View, Work};
use understory_model::{Code, Fault};

use crate::args::{decode, schema};
use crate::tool::{Access, Context, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    workspace: String,
    pub from: String,
    pub into: String,
    /// default notes, or the graph
    doc: Option<String>,
    cursor: Option<i64>,
    /// default 200
    limit: Option<i64>,
    #[serde(default)]
    dry_run: bool,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_merge",
    title: "Merge notes",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Copy notes of branch `from` into `into`, each once. dry_run only looks.",
    access: Access::ReadOrWrite,
    essential: false,
    schema: schema::<Input>,
    example: r#"{"workspace": "garden-shed", "from": "what-if", "into": "main"}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let doc = |_: &Input| "notes".to_string();
    let look = |view: &mut View<'_, '_>, asked: &Asked| merge::look(view.tx, view.ws, asked);
    merged(context, TOOL.name, args, doc, look, merge::merge)
}

/// Merges a page, or looks at what that would do.
pub(super) fn merged(
    context: &Context<'_>,
    tool: &'static str,
    args: Value,
    default_doc: impl Fn(&Input) -> String,
    look: impl Fn(&mut View<'_, '_>, &Asked) -> Result<Value, Fault>,
    merge: fn(&mut Work<'_, '_>, &Asked) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let request = request(tool, &args);
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let doc = input.doc.clone().unwrap_or_else(|| default_doc(&input));
    let asked = Asked {
        doc,
        cursor: input.cursor,
        limit: super::limit(input.limit, 200),
        from: input.from,
        into: input.into,
    };
    let sides = (asked.from.as_str(), asked.into.as_str());
    if input.dry_run {
        return context.engine.read(context.caller, |view| {
            match super::two_branches(view, sides, &asked.doc)? {
                Some(view) => look(view, &asked),
                None => Err(nothing_to_merge()),
            }
        });
    }
    place::check_doc(&asked.doc)?;
    context.engine.write(context.caller, request, move |work| {
        let ws = work.ws();
        place::check_branch(work.tx, ws, &asked.from)?;
        place::check_branch(work.tx, ws, &asked.into)?;
        merge(work, &asked)
    })
}

fn nothing_to_merge() -> Fault {
    Fault::new(Code::Validation, "a branch is not merged into itself")
        .hint("branchmind_branch_create makes a branch.")
}
