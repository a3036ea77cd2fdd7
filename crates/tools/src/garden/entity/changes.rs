//! `garden_changes`: what changed since you last looked.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::Engine;
use understory_engine::garden::entity::changes::{self, Asked};
use understory_engine::kernel::project;
use understory_model::budget::Budget;
use understory_model::page::limit;
use understory_model::{Caller, Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// cursor; default: what you acknowledged
    since: Option<String>,
    entity_types: Option<Vec<String>>,
    /// default: all
    project: Option<String>,
    /// seconds to wait for a change
    timeout_s: Option<f64>,
    limit: Option<i64>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_changes",
    title: "List changes",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "Entities that changed since you last acknowledged, by you too.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"entity_types": ["record", "node"]}"#,
    run,
};

/// A call that may wait.
pub struct Waiting {
    asked: Asked,
    budget: Budget,
    pub timeout: Duration,
}

/// Whether a call wants to wait for a change, so that it must not hold a thread.
pub fn waits(args: &Value) -> bool {
    args.get("timeout_s").is_some_and(|time| !time.is_null())
}

/// Reads a call's arguments; `longest` is as long as its caller waits for any answer.
pub fn waiting(args: Value, longest: Duration) -> Result<Waiting, Fault> {
    let input: Input = decode(args)?;
    let timeout = input.timeout_s.unwrap_or(0.0);
    if !timeout.is_finite() || timeout < 0.0 {
        let problem = "must be a number of seconds, 0 or more";
        return Err(Fault::invalid("timeout_s", problem));
    }
    Ok(Waiting {
        asked: Asked {
            since: input.since,
            entity_types: input.entity_types.unwrap_or_default(),
            project: input.project,
            limit: limit(input.limit, 50, limits::PAGE),
        },
        budget: budget(input.max_chars),
        timeout: Duration::from_secs_f64(timeout.min(longest.as_secs_f64())),
    })
}

impl Waiting {
    /// What has changed so far. Where that is nothing, the next look begins where this one ended.
    pub fn look(&mut self, engine: &Engine, caller: &Caller) -> Result<Looked, Fault> {
        let asked = &self.asked;
        let named = asked.project.as_deref();
        let answer = engine.read(caller, |view| match view {
            Some(view) => {
                project::to_read(view, caller, named)?;
                changes::changes(view, caller, asked, &self.budget)
            }
            None => {
                project::nothing_yet(caller, named)?;
                Ok(changes::nothing(asked))
            }
        })?;
        let none = answer["notifications"]
            .as_array()
            .is_none_or(|all| all.is_empty());
        // More to look through, none of which is wanted so far.
        let more = answer["more"] == true;
        let cursor = answer["cursor"].as_str().map(str::to_string);
        // What does not fit the budget is left out, and looking again finds no more of it.
        let stuck = more && cursor == self.asked.since;
        if none {
            self.asked.since = cursor;
        }
        Ok(match (none && !stuck, more) {
            (false, _) => Looked::Changed(answer),
            (true, true) => Looked::More,
            (true, false) => Looked::Nothing(answer),
        })
    }
}

/// What a look found.
pub enum Looked {
    Changed(Value),
    /// Nothing yet, and there is more to look through.
    More,
    Nothing(Value),
}

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let mut waiting = waiting(args, Duration::from_secs(limits::WAIT_SECONDS))?;
    let timeout = waiting.timeout;
    let mut answer = Value::Null;
    context.engine.until(context.caller, timeout, || {
        loop {
            match waiting.look(context.engine, context.caller)? {
                Looked::More => {}
                Looked::Changed(found) => {
                    answer = found;
                    return Ok(true);
                }
                Looked::Nothing(found) => {
                    answer = found;
                    return Ok(false);
                }
            }
        }
    })?;
    Ok(answer)
}
