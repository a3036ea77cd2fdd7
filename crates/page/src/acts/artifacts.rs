//! Acts on documents.

use serde_json::json;
use understory_model::Fault;

use super::{Act, Form, Found, call};

pub fn act(name: &str, form: &Form<'_>) -> Found {
    Some(match name {
        "decide" => decide(form),
        _ => return None,
    })
}

fn decide(form: &Form<'_>) -> Result<Act, Fault> {
    let proposal = form.required("proposal")?;
    let accept = form.text("accept") == Some("true");
    let calls = vec![call(
        "reader_decide",
        json!({"proposal": proposal, "accept": accept}),
    )];
    let said = if accept { "accepted" } else { "rejected" };
    Ok(Act::new(calls, format!("{proposal} is {said}.")))
}
