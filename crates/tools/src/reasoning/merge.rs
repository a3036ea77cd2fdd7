//! `branchmind_merge`: notes of one branch copied into another, each once.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::reasoning::merge::{self, Asked};
use understory_engine::reasoning::place::{self, Kind};
use understory_engine::{View, Work};
use understory_model::{Code, Fault};

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    workspace: String,
    from: String,
    into: String,
    /// default: the branches' own
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
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "from": "what-if", "into": "main"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let look = |view: &mut View<'_, '_>, asked: &Asked| merge::look(view.tx, view.ws, asked);
    merged(context, TOOL.name, args, Kind::Notes, look, merge::merge)
}

/// Merges a page, or looks at what that would do.
pub(super) fn merged(
    context: &Call<'_>,
    tool: &'static str,
    args: Value,
    kind: Kind,
    look: impl Fn(&mut View<'_, '_>, &Asked) -> Result<Value, Fault>,
    merge: fn(&mut Work<'_, '_>, &Asked) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let request = request(tool, &args);
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let named = input.doc;
    named.as_deref().map_or(Ok(()), place::check_doc)?;
    let mut asked = Asked {
        doc: String::new(),
        cursor: input.cursor,
        limit: super::limit(input.limit, 200),
        from: input.from,
        into: input.into,
    };
    if input.dry_run {
        return context.engine.read(context.caller, |view| {
            let sides = (asked.from.as_str(), asked.into.as_str());
            let Some(view) = view else {
                place::of_both_nothing(sides, named.as_deref(), kind)?;
                return Err(nothing_to_merge());
            };
            asked.doc = place::of_both(view.tx, view.ws, sides, named.as_deref(), kind)?;
            look(view, &asked)
        });
    }
    context
        .engine
        .write_json(context.caller, request, move |work| {
            let (ws, mut asked) = (work.ws(), asked.clone());
            let sides = (asked.from.as_str(), asked.into.as_str());
            asked.doc = place::of_both(work.tx, ws, sides, named.as_deref(), kind)?;
            merge(work, &asked)
        })
}

fn nothing_to_merge() -> Fault {
    Fault::new(Code::Validation, "a branch is not merged into itself")
        .hint("branchmind_branch_create makes a branch.")
}
