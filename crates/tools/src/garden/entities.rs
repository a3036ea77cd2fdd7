//! `garden_entities`: entities by type, group or text.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::listed::{self, Asked};
use understory_model::page::limit;
use understory_model::text::check_text;
use understory_model::{Fault, limits};

use super::read;
use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(rename = "type")]
    kind: Option<String>,
    /// group_id of its members
    group: Option<String>,
    /// anywhere in the data
    text: Option<String>,
    superseded: Option<bool>,
    project: Option<String>,
    cursor: Option<String>,
    limit: Option<i64>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_entities",
    title: "List entities",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "List entities by type, group or text, newest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"type": "service"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    for (field, value) in [("type", &input.kind), ("text", &input.text)] {
        if let Some(value) = value {
            check_text(field, value, limits::NAME_CHARS, false)?;
        }
    }
    let asked = Asked {
        kind: input.kind,
        group: input.group,
        text: input.text,
        superseded: input.superseded.unwrap_or(false),
        project: input.project,
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE).max(1),
    };
    listed::check(&asked)?;
    let budget = budget(input.max_chars);
    read(
        context,
        asked.project.as_deref(),
        || Ok(listed::nothing()),
        |view| listed::listed(view, context.caller, &asked, &budget),
    )
}
