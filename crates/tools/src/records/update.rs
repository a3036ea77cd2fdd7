//! `update_record`: the next version of an active record.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::records::update::{self, Update, Updated};
use understory_model::answer::Answer;
use understory_model::record::Proposed;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::{present, schema};
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    id: String,
    /// moves it; null: to the top
    #[serde(default, deserialize_with = "present")]
    #[schemars(extend("nullable" = true, "type" = ["string", "null"]))]
    parent_id: Option<Option<String>>,
    #[serde(rename = "type")]
    kind: Option<String>,
    title: Option<String>,
    summary: Option<String>,
    #[schemars(extend("x-long" = true, "x-nul" = true))]
    body: Option<String>,
    /// replaces the list
    #[schemars(length(max = limits::LIST_LEN))]
    related: Option<Vec<String>>,
    metadata: Option<Map<String, Value>>,
    /// write over a newer version
    force: Option<bool>,
    /// default: your own
    session_id: Option<String>,
    #[serde(default)]
    #[schemars(extend("maxProperties" = limits::LIST), extend("x-about" = super::SEEN))]
    seen: BTreeMap<String, i64>,
    /// false: only its head comes back
    echo: Option<bool>,
}

pub const TOOL: Tool = Tool {
    name: "update_record",
    title: "Update record",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "Change an active record. If another session changed it since you saw it, nothing is written and `conflict` shows its version.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    output: output::<Updated>,
    takes: &[Common::Key],
    example: r#"{"id": "R001", "body": "Rotate every hour; accept the last key for five minutes more."}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Updated>, Fault> {
    let update = Update::try_from(Proposed {
        kind: input.kind,
        title: input.title,
        summary: input.summary,
        body: input.body,
        related: input.related,
        metadata: input.metadata,
        parent_id: input.parent_id,
    })?;
    let force = input.force.unwrap_or(false);
    let (id, session, seen) = (input.id, input.session_id, input.seen.into());
    let answer = call
        .write(move |work| update::update(work, &id, &update, force, session.as_deref(), &seen))?;
    let mut updated = answer.typed()?;
    updated.record = updated.record.echoed(input.echo);
    Ok(updated.into())
}
