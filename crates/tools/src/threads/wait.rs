//! `wait_for_messages`: what is new, or what comes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use understory_engine::threads::wait::{self, Before, Heard, Lease, Looked, Looks, Waited, Wanted};
use understory_model::answer::Answer;
use understory_model::budget::Budget;
use understory_model::page::limit;
use understory_model::{Caller, Fault, limits};

use super::SchemaVersion;
use crate::answers::output;
use crate::args::{decode, schema};
use crate::call::{Call, take_common, typed};
use crate::tool::{Access, Common, Context, Effect, Surface, Tool};

/// Seconds that a call waits unless it says otherwise: less than clients wait for an answer.
const DEFAULT_SECONDS: i64 = 30;

/// Places in threads; a lone seq is understood too, where `thread_ids` says of which.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "must be an object {thread_id: seq}, as `next` gives it"
)]
enum Since {
    All(i64),
    Each(BTreeMap<String, i64>),
}

impl JsonSchema for Since {
    fn schema_name() -> Cow<'static, str> {
        "Since".into()
    }

    // Some clients drop a property that does not say its types.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["object", "integer"],
            "additionalProperties": { "type": "integer" }
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: all of yours
    #[serde(default)]
    #[schemars(length(max = limits::WAITED_THREADS))]
    thread_ids: Vec<String>,
    /// `next` of your last answer: marks that as read
    #[serde(default)]
    ack: BTreeMap<String, i64>,
    /// {thread_id: seq}: from there, without marking; default: after what this session was told
    since: Option<Since>,
    /// 0 to 280, default 30
    timeout_s: Option<f64>,
    limit: Option<i64>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "wait_for_messages",
    title: "Wait for messages",
    effect: Effect::Settles,
    surface: Surface::Threads,
    about: "Your unread messages, or the first that come: blocks until then. Each is told once per session and stays unread until you give `next` back as `ack`. timeout_s 0 only looks.",
    access: Access::ReadOrWrite,
    essential: true,
    schema: schema::<Input>,
    output: output::<Waited>,
    takes: &[Common::MaxChars],
    example: r#"{"timeout_s": 0}"#,
    run: |call, args| typed(call, args, run),
};

/// A call that waits.
pub struct Waiting {
    wanted: Wanted,
    budget: Budget,
    pub timeout: Duration,
}

/// Reads a call's arguments; `longest` is as long as its caller waits for any answer.
pub fn waiting(mut args: Value, longest: Duration) -> Result<Waiting, Fault> {
    let budget = take_common(&mut args);
    of(decode(args)?, budget, longest)
}

fn of(input: Input, budget: Budget, longest: Duration) -> Result<Waiting, Fault> {
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
    let placed = input.since.is_some();
    let (since, since_of) = match input.since {
        None => (None, BTreeMap::new()),
        Some(Since::All(since)) => (Some(since), BTreeMap::new()),
        Some(Since::Each(each)) => (None, wait::places("since", each)?),
    };
    if since.is_some_and(|since| since < 0) {
        return Err(Fault::invalid("since", "must not be below 0"));
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
            ack: wait::places("ack", input.ack)?,
            limit: limit(input.limit, 50, limits::PAGE).max(1),
            placed,
            heard: Heard::new(),
        },
        budget,
        timeout: Duration::from_secs_f64(timeout.min(longest.as_secs_f64())),
    })
}

impl Waiting {
    /// Whether it acknowledges messages, which is a write.
    pub fn acknowledges(&self) -> bool {
        !self.wanted.ack.is_empty()
    }

    /// Acknowledges what was read.
    pub fn acknowledge(&self, context: &Context<'_>) -> Result<(), Fault> {
        wait::acknowledge(context.engine, context.caller, &self.wanted)
    }

    /// Registers the wait; the lease identifies it for `renew` and `end`.
    pub fn begin(&self, context: &Context<'_>) -> Option<Lease> {
        wait::begin(context.engine, context.caller, &self.wanted)
    }

    /// Continues from what the caller's session was told.
    pub fn hear(&mut self, context: &Context<'_>) -> Result<(), Fault> {
        wait::hear(context.engine, context.caller, &mut self.wanted)
    }

    /// What has come so far.
    pub fn look(&self, context: &Context<'_>) -> Result<Looked, Fault> {
        wait::look(context.engine, context.caller, &self.wanted, &self.budget)
    }

    /// As [`Waiting::look`], beside others at one snapshot.
    pub fn look_at(&self, looks: &mut Looks<'_, '_, '_>, caller: &Caller) -> Result<Looked, Fault> {
        looks.look(caller, &self.wanted, &self.budget)
    }

    /// The answer when nothing came.
    pub fn nothing(&self, before: &Before) -> Result<Answer<Waited>, Fault> {
        wait::nothing(&self.wanted, &self.budget, self.timeout, before)
    }
}

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Waited>, Fault> {
    let longest = Duration::from_secs(limits::WAIT_SECONDS);
    let Waiting {
        wanted,
        budget,
        timeout,
    } = of(input, call.budget, longest)?;
    wait::wait(call.engine, call.caller, &wanted, &budget, timeout)
}
