//! `wait_for_messages`: what is new, or what comes.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::threads::wait::{self, Token, Wanted};
use understory_model::budget::Budget;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::args::{budget, decode, schema};
use crate::tool::{Access, Context, Effect, Surface, Tool};

/// Seconds that a call waits unless it says otherwise: less than clients wait for an answer.
const DEFAULT_SECONDS: i64 = 30;

#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "must be a seq, or an object {thread_id: seq}")]
enum Since {
    All(i64),
    Each(BTreeMap<String, i64>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: all of yours
    #[serde(default)]
    thread_ids: Vec<String>,
    /// a seq, or {thread_id: seq} as `next` gives it; default: what you acknowledged
    #[schemars(with = "Option<Value>", extend("type" = ["integer", "object"], "additionalProperties" = {"type": "integer"}))]
    since: Option<Since>,
    /// 0 to 300, default 30
    timeout_s: Option<f64>,
    limit: Option<i64>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "wait_for_messages",
    title: "Wait for messages",
    effect: Effect::Nothing,
    surface: Surface::Threads,
    about: "Your unread messages, or the first that come: blocks until then. timeout_s 0 only looks.",
    access: Access::Read,
    essential: true,
    schema: schema::<Input>,
    example: r#"{"timeout_s": 0}"#,
    run,
};

/// A call that waits.
pub struct Waiting {
    wanted: Wanted,
    budget: Budget,
    pub timeout: Duration,
}

/// Reads a call's arguments.
pub fn waiting(args: Value) -> Result<Waiting, Fault> {
    let input: Input = decode(args)?;
    let timeout = input.timeout_s.unwrap_or(DEFAULT_SECONDS as f64);
    if !timeout.is_finite() || timeout < 0.0 {
        return Err(Fault::invalid(
            "timeout_s",
            "must be a number of seconds, 0 or more",
        ));
    }
    if input.thread_ids.len() > limits::WAITED_THREADS {
        let most = limits::WAITED_THREADS;
        let problem = format!("names {} threads; at most {most}", input.thread_ids.len());
        return Err(Fault::invalid("thread_ids", problem));
    }
    let (since, since_of) = match input.since {
        None => (None, BTreeMap::new()),
        Some(Since::All(since)) => (Some(since), BTreeMap::new()),
        Some(Since::Each(each)) => (None, each),
    };
    if since
        .iter()
        .chain(since_of.values())
        .any(|since| *since < 0)
    {
        return Err(Fault::invalid("since", "must be 0 or more"));
    }
    if since_of.len() > limits::WAITED_THREADS {
        return Err(Fault::invalid("since", "names too many threads"));
    }
    if since.is_some() && input.thread_ids.is_empty() {
        return Err(Fault::invalid("since", "as a number requires thread_ids")
            .hint("Name thread_ids, or give {thread_id: seq}."));
    }
    Ok(Waiting {
        wanted: Wanted {
            threads: input.thread_ids,
            since,
            since_of,
            limit: limit(input.limit, 50, limits::PAGE).max(1),
        },
        budget: budget(input.max_chars),
        timeout: Duration::from_secs_f64(timeout.min(limits::WAIT_SECONDS as f64)),
    })
}

impl Waiting {
    /// Says that the caller waits; what it is told apart by when it says that it does no more.
    pub fn begin(&self, context: &Context<'_>) -> Option<Token> {
        wait::begin(context.engine, context.caller, self.timeout)
    }

    /// What has come so far; `None` if nothing did.
    pub fn look(&self, context: &Context<'_>) -> Result<Option<Value>, Fault> {
        wait::look(context.engine, context.caller, &self.wanted, &self.budget)
    }

    /// The answer when nothing came.
    pub fn nothing(&self) -> Value {
        wait::nothing(&self.wanted, &self.budget)
    }
}

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let Waiting {
        wanted,
        budget,
        timeout,
    } = waiting(args)?;
    wait::wait(context.engine, context.caller, &wanted, &budget, timeout)
}
