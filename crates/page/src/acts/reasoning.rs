//! Acts on branches of thought.

use serde_json::{Value, json};
use understory_model::Fault;

use super::{Act, Form, Found, call};

pub fn act(name: &str, form: &Form<'_>) -> Found {
    Some(match name {
        "settle" => settle(form),
        "branch-new" => branch(form),
        "branch-merge" => merge(form),
        "thought-put" => put(form),
        _ => return None,
    })
}

fn settle(form: &Form<'_>) -> Result<Act, Fault> {
    let conflict = form.required("conflict")?;
    let keep = form.required("keep")?;
    let asked = json!({"workspace": form.workspace, "conflict_id": conflict, "resolution": keep});
    let calls = vec![call("branchmind_graph_conflict_resolve", asked)];
    let act = Act::new(calls, "Settled.");
    // To keep what is there writes nothing, so there is nothing to make as it was.
    Ok(
        match (form.text("branch"), form.text("doc"), form.text("op")) {
            (Some(branch), Some(doc), Some(op)) if keep == "use_from" => act.undone_by(
                "thought-put",
                &[("branch", branch), ("doc", doc), ("op", op)],
            ),
            _ => act,
        },
    )
}

/// Writes one thought, or what joins two, as it was.
fn put(form: &Form<'_>) -> Result<Act, Fault> {
    let mut op: Value = serde_json::from_str(form.required("op")?)
        .map_err(|_| Fault::invalid("op", "cannot be read"))?;
    if let Some(fields) = op.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    let (branch, doc) = (form.required("branch")?, form.required("doc")?);
    let asked = json!({"workspace": form.workspace, "branch": branch, "doc": doc, "ops": [op]});
    Ok(Act::new(
        vec![call("branchmind_graph_apply", asked)],
        format!("{branch} says again what it said."),
    ))
}

fn branch(form: &Form<'_>) -> Result<Act, Fault> {
    let name = form.required("name")?.trim();
    let asked = json!({"workspace": form.workspace, "name": name, "from": form.required("from")?});
    let calls = vec![call("branchmind_branch_create", asked)];
    Ok(Act::new(
        calls,
        format!("{name} is there. Nothing was copied."),
    ))
}

fn merge(form: &Form<'_>) -> Result<Act, Fault> {
    let (from, into) = (form.required("from")?, form.required("into")?);
    let asked = json!({"workspace": form.workspace, "from": from, "into": into});
    let mut thoughts = asked.clone();
    if let Some(doc) = form.text("doc") {
        thoughts["doc"] = doc.into();
    }
    let calls = vec![
        call("branchmind_graph_merge", thoughts),
        call("branchmind_merge", asked),
    ];
    Ok(Act::new(calls, format!("{from} is merged into {into}.")))
}
