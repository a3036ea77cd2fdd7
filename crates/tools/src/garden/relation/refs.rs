//! `garden_refs`: what the references in a text stand for.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::garden::relation::refs;
use understory_model::budget::{Drop, fit_list};
use understory_model::refs::parse_references;
use understory_model::text::check_text;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::garden::read;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(extend("x-long" = true))]
    content: String,
    project: Option<String>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_refs",
    title: "Resolve references",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "The references in a text (^a7f, label:3, @item_…, uuid_…) and what each means.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"content": "See goals_doc:3, as @r001 says"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    check_text("content", &input.content, limits::BODY_BYTES, true)?;
    let count = parse_references(&input.content).len();
    if count > limits::REFERENCES {
        let problem = format!(
            "has {count} references; at most {} are resolved at once",
            limits::REFERENCES
        );
        return Err(Fault::invalid("content", problem).hint("Split the text."));
    }
    let budget = budget(input.max_chars);
    let found = read(
        context,
        input.project.as_deref(),
        || Ok(refs::unresolved(&input.content).into()),
        |view| {
            let scope = view.scope(input.project.as_deref())?;
            Ok(refs::resolve(view.tx, scope, context.caller, &input.content)?.into())
        },
    )?;
    Ok(fit_list(
        json!({ "refs": found }),
        "refs",
        &budget,
        Drop::Last,
    ))
}
