//! `garden_changes`: what changed since you last looked.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::Engine;
use understory_engine::garden::entity::changes::{self, Asked, Changes};
use understory_model::answer::{self, Answer};
use understory_model::budget::Budget;
use understory_model::page::limit;
use understory_model::{Caller, Code, Fault, limits};

use crate::answers::output;
use crate::args::{decode, schema};
use crate::call::{Call, take_common, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

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
    output: output::<Changes>,
    takes: &[Common::MaxChars],
    example: r#"{"entity_types": ["record", "node"]}"#,
    run: |call, args| typed(call, args, run),
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
pub fn waiting(mut args: Value, longest: Duration) -> Result<Waiting, Fault> {
    let budget = take_common(&mut args);
    of(decode(args)?, budget, longest)
}

fn of(input: Input, budget: Budget, longest: Duration) -> Result<Waiting, Fault> {
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
        budget,
        timeout: Duration::from_secs_f64(timeout.min(longest.as_secs_f64())),
    })
}

impl Waiting {
    /// What has changed so far. Where that is nothing, the next look begins where this one ended.
    pub fn look(&mut self, engine: &Engine, caller: &Caller) -> Result<Looked, Fault> {
        let asked = &self.asked;
        let found = engine.view(caller, |view| changes::changes(view, caller, asked))?;
        let (none, more) = (found.notifications.is_empty(), found.more);
        if none {
            self.asked.since = Some(found.cursor.clone());
        }
        if none && more {
            return Ok(Looked::More);
        }
        let answer = answer::fit(found, &self.budget)?;
        Ok(if none {
            Looked::Nothing(answer)
        } else {
            Looked::Changed(answer)
        })
    }
}

/// What a look found.
pub enum Looked {
    Changed(Answer<Changes>),
    /// Nothing yet, and there is more to look through.
    More,
    Nothing(Answer<Changes>),
}

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Changes>, Fault> {
    let mut waiting = of(
        input,
        call.budget,
        Duration::from_secs(limits::WAIT_SECONDS),
    )?;
    let timeout = waiting.timeout;
    let mut answer = None;
    call.engine.until(call.caller, timeout, || {
        loop {
            let (found, changed) = match waiting.look(call.engine, call.caller)? {
                Looked::More => continue,
                Looked::Changed(found) => (found, true),
                Looked::Nothing(found) => (found, false),
            };
            answer = Some(found);
            return Ok(changed);
        }
    })?;
    answer.ok_or_else(|| Fault::new(Code::Internal, "a wait ended without a look"))
}
