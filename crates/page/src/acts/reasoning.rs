//! Acts on branches of thought.

use serde_json::json;
use understory_model::Fault;

use super::{Act, Form, Found, call};

pub fn act(name: &str, form: &Form<'_>) -> Found {
    Some(match name {
        "settle" => settle(form),
        _ => return None,
    })
}

fn settle(form: &Form<'_>) -> Result<Act, Fault> {
    let conflict = form.required("conflict")?;
    let asked = json!({"workspace": form.workspace, "conflict_id": conflict, "resolution": form.required("keep")?});
    let calls = vec![call("branchmind_graph_conflict_resolve", asked)];
    Ok(Act::new(calls, format!("{conflict} is settled.")))
}
