//! `garden_fossilize`: relations that nobody cites any more come to rest.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::garden::closing;
use understory_engine::garden::fossil::{self, THRESHOLD};
use understory_engine::project;
use understory_model::Fault;

use super::read;
use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    dry_run: Option<bool>,
    /// 0 to 1, default 0.1
    threshold: Option<f64>,
    project: Option<String>,
    /// true closes the project, false reopens it
    close: Option<bool>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_fossilize",
    title: "Fossilize relations",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Move faded relations from core to soil, or all of a closed project; dry_run only tells.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"dry_run": true}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let threshold = input.threshold.unwrap_or(THRESHOLD);
    fossil::check(threshold)?;
    if let Some(close) = input.close {
        if input.dry_run.unwrap_or(false) {
            return Err(Fault::invalid("dry_run", "cannot be combined with close"));
        }
        let named = input.project;
        return context
            .engine
            .write_json(context.caller, request, move |work| {
                closing::close(work, named.as_deref(), close)
            });
    }
    if input.dry_run.unwrap_or(false) {
        return read(
            context,
            input.project.as_deref(),
            || Ok(json!({ "fossilized": [], "revived": [], "dry_run": true, "more": false })),
            |view| {
                let (faded, cited) = fossil::due(view.tx, view.ws, view.now, threshold)?;
                fossil::told(view.tx, view.ws, view.now, &faded, &cited, true)
            },
        );
    }
    let named = input.project;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            project::check_known(work, named.as_deref())?;
            fossil::fossilize(work, threshold)
        })
}
