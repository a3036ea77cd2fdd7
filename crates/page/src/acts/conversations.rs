//! Acts on conversations.

use serde_json::json;
use understory_model::Fault;

use super::{Act, Form, Found, call};

pub fn act(name: &str, form: &Form<'_>) -> Found {
    Some(match name {
        "branch_off" => branch_off(form),
        "unbranch" => unbranch(form),
        "end" => end(form),
        "reopen_conversation" => reopen(form),
        "say" => say(form),
        "stand" => stand(form),
        _ => return None,
    })
}

fn branch_off(form: &Form<'_>) -> Result<Act, Fault> {
    let mut asked = json!({"parent": form.required("log")?});
    if let Some(title) = form.text("title") {
        asked["title"] = title.into();
    }
    let calls = vec![call("garden_fork", asked)];
    Ok(
        Act::new(calls, "Branched off; you stand in the new conversation.").undone_by_answer(
            "unbranch",
            "log",
            "/log/uuid",
        ),
    )
}

/// Ends a conversation that should not have begun. It stays, because others may have seen it.
fn unbranch(form: &Form<'_>) -> Result<Act, Fault> {
    let asked = json!({"log": form.required("log")?, "summary": "Begun by mistake."});
    Ok(Act::new(
        vec![call("garden_collapse", asked)],
        "It is ended.",
    ))
}

fn end(form: &Form<'_>) -> Result<Act, Fault> {
    let log = form.required("log")?;
    let asked = json!({"log": log, "summary": form.required("summary")?});
    let calls = vec![call("garden_collapse", asked)];
    Ok(Act::new(calls, "The conversation is ended.")
        .undone_by("reopen_conversation", &[("log", log)]))
}

fn reopen(form: &Form<'_>) -> Result<Act, Fault> {
    let asked = json!({"log": form.required("log")?});
    let calls = vec![call("garden_reopen", asked)];
    Ok(Act::new(
        calls,
        "It goes on in a new conversation, and you stand in it.",
    )
    .undone_by_answer("unbranch", "log", "/log/uuid"))
}

fn say(form: &Form<'_>) -> Result<Act, Fault> {
    let asked = json!({
        "type": "Message",
        "log": form.required("log")?,
        "description": form.required("body")?,
    });
    let calls = vec![call("garden_add", asked)];
    Ok(Act::new(calls, "Said.").undone_by_answer("unsay", "item", "/item/uuid"))
}

/// Moves the person's own place.
fn stand(form: &Form<'_>) -> Result<Act, Fault> {
    let calls = vec![call("garden_frame", json!({"log": form.required("log")?}))];
    let act = Act::new(calls, "You stand in this conversation now.");
    Ok(match form.text("from") {
        Some(from) => act.undone_by("stand", &[("log", from)]),
        None => act,
    })
}
