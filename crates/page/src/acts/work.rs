//! Acts on tasks.

use serde_json::{Value, json};
use understory_model::Fault;

use super::{Act, Form, Found, call};

pub fn act(name: &str, form: &Form<'_>) -> Found {
    Some(match name {
        "plan" => plan(form),
        "resolve" => update(form, json!({"resolved": true}), "is done", "reopen"),
        "reopen" => update(form, json!({"resolved": false}), "is open again", "resolve"),
        "claim" => update(form, json!({"claim": true}), "is yours", "release"),
        "release" => update(form, json!({"claim": false}), "is free", "claim"),
        _ => return None,
    })
}

fn plan(form: &Form<'_>) -> Result<Act, Fault> {
    let summary = form.required("summary")?;
    let calls = vec![call(
        "graph_plan",
        json!({"nodes": [{"ref": "new", "summary": summary}]}),
    )];
    Ok(Act::new(calls, "Added."))
}

/// Changes one task; what became of it, and the act that makes it as it was.
fn update(
    form: &Form<'_>,
    mut fields: Value,
    said: &str,
    undo: &'static str,
) -> Result<Act, Fault> {
    let node = form.required("node")?;
    fields["node_id"] = node.into();
    let calls = vec![call("graph_update", json!({"updates": [fields]}))];
    Ok(Act::new(calls, format!("{node} {said}.")).undone_by(undo, &[("node", node)]))
}
