//! `branchmind_merge`: notes of one branch copied into another, each once.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::reasoning::merge::{self, Asked};
use understory_engine::reasoning::place;
use understory_model::Fault;

use crate::args::{decode, schema};
use crate::tool::{Access, Context, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    from: String,
    into: String,
    /// default notes
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
    surface: Surface::Reasoning,
    about: "Copy notes of branch `from` into `into`, each once. dry_run only looks.",
    access: Access::ReadOrWrite,
    essential: false,
    schema: schema::<Input>,
    example: r#"{"workspace": "garden-shed", "from": "what-if", "into": "main"}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let asked = Asked {
        doc: input.doc.unwrap_or_else(|| "notes".into()),
        cursor: input.cursor,
        limit: super::limit(input.limit, 200),
        from: input.from,
        into: input.into,
    };
    let sides = (asked.from.as_str(), asked.into.as_str());
    if input.dry_run {
        return context.engine.read(context.caller, |view| {
            match super::two_branches(view, sides, &asked.doc)? {
                Some(view) => merge::look(view.tx, view.ws, &asked),
                None => Err(super::nothing_to_merge()),
            }
        });
    }
    place::check_doc(&asked.doc)?;
    context.engine.write(context.caller, request, move |work| {
        let ws = work.ws();
        place::check_branch(work.tx, ws, &asked.from)?;
        place::check_branch(work.tx, ws, &asked.into)?;
        merge::merge(work, &asked)
    })
}
