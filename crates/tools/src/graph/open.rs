//! `graph_open`: list the projects, or open one, made when it is new.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::graph::open;
use understory_model::Fault;
use understory_model::budget::{Drop, fit_list};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// omit it and goal to list all
    project: Option<String>,
    /// used unless it has one
    goal: Option<String>,
    max_chars: Option<i64>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "graph_open",
    title: "Open project",
    effect: Effect::Settles,
    surface: Surface::Graph,
    about: "List projects, or open one by name (created if new) with its root and counts.",
    access: Access::ReadOrWrite,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"project": "shop", "goal": "Ship the web shop"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let Input {
        project,
        goal,
        max_chars,
        ..
    } = decode(args)?;
    let budget = budget(max_chars);
    // A goal without a project is meant for the caller's own.
    let name = project.or_else(|| goal.as_ref().map(|_| context.caller.project.clone()));
    let Some(name) = name else {
        let all = context.engine.read(context.caller, open::list)?;
        return Ok(fit_list(all, "projects", &budget, Drop::Last));
    };
    open::check(&name, goal.as_deref())?;
    // A retry of the call that made the project must reach the answer that was kept for it.
    let retry = request.key.is_some() && context.caller.role.may_write();
    let there = match retry {
        true => None,
        false => context.engine.read(context.caller, |view| {
            open::find(view, &name, goal.as_deref())
        })?,
    };
    let answer = match there {
        Some(there) => there,
        None => context
            .engine
            .write_json(context.caller, request, move |work| {
                open::create(work, &name, goal.as_deref())
            })?,
    };
    if budget.holds(&answer) {
        return Ok(answer);
    }
    let least = json!({ "summary": answer["summary"], "truncated": true });
    Ok(if budget.holds(&least) {
        least
    } else {
        json!({ "truncated": true })
    })
}
