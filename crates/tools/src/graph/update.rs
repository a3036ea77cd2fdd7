//! `graph_update`: change nodes, resolve them, and learn what that unblocked.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::graph::update::{self, Update};
use understory_model::{Fault, limits};

use crate::args::{decode, present, schema};
use crate::tool::{Access, Context, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(length(max = limits::BATCH))]
    updates: Vec<One>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
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
    example: r#"{"updates": [{"node_id": "TASK-001", "resolved": true, "add_evidence": [{"type": "git", "ref": "abc1234"}]}]}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let updates: Vec<Update> = input
        .updates
        .into_iter()
        .map(|one| Update {
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
                .map(|e| (e.kind, e.reference))
                .collect(),
            reason: one.reason,
            claim: one.claim,
        })
        .collect();
    context.engine.write(context.caller, request, move |work| {
        update::update(work, &updates)
    })
}
