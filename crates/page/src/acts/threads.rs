//! Acts on threads: messages, reading, waking.

use serde_json::json;
use understory_model::Fault;

use super::{Act, Call, Form, Found, call};

pub fn act(name: &str, form: &Form<'_>) -> Found {
    Some(match name {
        "post" => post(form),
        "read" => read(form),
        "send" => send(form),
        "wake" => wake(form),
        "unsay" => unsay(form),
        _ => return None,
    })
}

fn post(form: &Form<'_>) -> Result<Act, Fault> {
    let thread = form.required("thread")?;
    let said = json!({"thread_id": thread, "body": form.required("body")?});
    let calls = vec![call("post_message", said), seen(form)?];
    Ok(
        Act::new(calls, format!("Sent to {thread}.")).undone_by_answer(
            "unsay",
            "item",
            "/message_id",
        ),
    )
}

fn read(form: &Form<'_>) -> Result<Act, Fault> {
    let thread = form.required("thread")?;
    Ok(Act::new(vec![seen(form)?], format!("{thread} is read.")))
}

fn seen(form: &Form<'_>) -> Result<Call, Fault> {
    let upto =
        json!({"thread_id": form.required("thread")?, "last_read_seq": form.number("upto")?});
    Ok(call("ack_read", upto))
}

fn send(form: &Form<'_>) -> Result<Act, Fault> {
    let said = json!({"to": form.words("to"), "body": form.required("body")?});
    Ok(
        Act::new(vec![call("post_message", said)], "Sent.").undone_by_answer(
            "unsay",
            "item",
            "/message_id",
        ),
    )
}

fn wake(form: &Form<'_>) -> Result<Act, Fault> {
    let agent = form.required("agent")?;
    let asked = json!({"thread_id": form.required("thread")?, "target_agent_id": agent});
    let calls = vec![call("trigger_participant", asked)];
    Ok(Act::new(calls, format!("{agent} is being woken.")))
}

/// Erases what one wrote a moment ago.
fn unsay(form: &Form<'_>) -> Result<Act, Fault> {
    let calls = vec![call("garden_undo", json!({"item": form.required("item")?}))];
    Ok(Act::new(calls, "Taken back."))
}
