//! `transition`: the next state of an active record.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::transition::{self, Transition, Transitioned};
use understory_model::answer::Answer;
use understory_model::record::RecordState;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    id: String,
    #[schemars(extend("description" = ways()))]
    to_state: RecordState,
    #[schemars(extend("description" = needs_reason()))]
    reason: Option<String>,
    #[schemars(extend("description" = needs_resolver()))]
    resolved_by: Option<String>,
    /// default: your own
    session_id: Option<String>,
    #[serde(default)]
    #[schemars(extend("maxProperties" = limits::LIST), extend("x-about" = super::SEEN))]
    seen: BTreeMap<String, i64>,
    /// false: only its head comes back
    echo: Option<bool>,
}

pub const TOOL: Tool = Tool {
    name: "transition",
    title: "Change record state",
    effect: Effect::Settles,
    surface: Surface::Records,
    about: "Change an active record's state.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    output: output::<Transitioned>,
    takes: &[Common::Key],
    example: r#"{"id": "R001", "to_state": "RESOLVED", "resolved_by": "R002"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Transitioned>, Fault> {
    let wanted = Transition::new(input.to_state, input.reason, input.resolved_by)?;
    let (id, session, seen) = (input.id, input.session_id, input.seen.into());
    let answer = call
        .write(move |work| transition::transition(work, &id, &wanted, session.as_deref(), &seen))?;
    let mut done = answer.typed()?.answer()?;
    done.record = done.record.echoed(input.echo);
    Ok(done.into())
}

/// Which state leads to which.
fn ways() -> String {
    let ways = RecordState::ALL.iter().map(|from| {
        let to = joined(from.leads_to().iter().copied(), "or");
        format!("{from} to {to}")
    });
    ways.collect::<Vec<_>>().join("; ")
}

fn needs_reason() -> String {
    let states = RecordState::ALL.iter().copied();
    let states = states.filter(|state| state.needs_reason());
    format!("required for {}", joined(states, "and"))
}

fn needs_resolver() -> String {
    let states = RecordState::ALL.iter().copied();
    let states = joined(states.filter(|state| state.needs_resolver()), "and");
    format!("another record of the project that settles it; required for {states}")
}

/// `A, B or C`
fn joined(states: impl Iterator<Item = RecordState>, last: &str) -> String {
    let words: Vec<&str> = states.map(RecordState::as_str).collect();
    match words.split_last() {
        Some((end, [])) => (*end).to_owned(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
        None => String::new(),
    }
}
