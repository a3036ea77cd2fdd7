//! `graph_update`: change nodes, resolve them, and learn what that unblocked.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::graph::update::{self, Update, Updated};
use understory_model::answer::Answer;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::{present, schema};
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(length(max = limits::BATCH))]
    updates: Vec<One>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    node_id: String,
    resolved: Option<bool>,
    /// yours to define; null clears
    #[serde(default, deserialize_with = "present")]
    #[schemars(extend("type" = ["string", "number", "boolean", "object", "array", "null"], "x-long" = true, "x-nul" = true))]
    state: Option<Value>,
    summary: Option<String>,
    /// merged; null deletes a key
    #[serde(default)]
    properties: Map<String, Value>,
    #[serde(default)]
    #[schemars(length(max = limits::LIST_LEN))]
    add_context_links: Vec<String>,
    #[serde(default)]
    #[schemars(length(max = limits::LIST_LEN))]
    remove_context_links: Vec<String>,
    #[serde(default)]
    #[schemars(length(max = limits::LIST_LEN))]
    add_evidence: Vec<Evidence>,
    /// true takes it (or renews), false releases
    claim: Option<bool>,
    /// refuse if it changed
    expected_rev: Option<i64>,
    /// why, for the history
    reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Evidence {
    /// git, test, note, hint, file, …
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "ref")]
    reference: String,
}

pub const TOOL: Tool = Tool {
    name: "graph_update",
    title: "Update nodes",
    effect: Effect::Adds,
    surface: Surface::Graph,
    about: "Change nodes, all or none. Resolve with evidence; newly_actionable tells what that unblocked.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    output: output::<Updated>,
    takes: &[Common::Key],
    example: r#"{"updates": [{"node_id": "TASK-001", "resolved": true, "add_evidence": [{"type": "git", "ref": "abc1234"}]}]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Updated>, Fault> {
    let updates: Vec<Update> = input.updates.into_iter().map(Update::from).collect();
    call.write(move |work| update::update(work, &updates))
}

impl From<One> for Update {
    fn from(one: One) -> Update {
        Update {
            node: one.node_id,
            expected_rev: one.expected_rev,
            resolved: one.resolved,
            state: one.state,
            summary: one.summary,
            properties: one.properties,
            add_links: one.add_context_links,
            remove_links: one.remove_context_links,
            add_evidence: one
                .add_evidence
                .into_iter()
                .map(|evidence| (evidence.kind, evidence.reference))
                .collect(),
            reason: one.reason,
            claim: one.claim,
        }
    }
}
