//! Acts on threads: messages, reading, waking, findings, status, who takes part.

use serde_json::json;
use understory_model::Fault;
use understory_model::thread::{Event, Status};

use super::{Act, Call, Form, Found, call};

pub fn act(name: &str, form: &Form<'_>) -> Found {
    Some(match name {
        "post" => post(form),
        "read" => read(form),
        "send" => send(form),
        "wake" => wake(form),
        "unsay" => unsay(form),
        "verify_finding" => settle(form, Event::FindingVerified),
        "reject_finding" => settle(form, Event::FindingRejected),
        "withdraw_finding" => settle(form, Event::FindingWithdrawn),
        "status" => status(form),
        "add_people" => people(form, "add_participants"),
        "remove_people" => people(form, "remove_participants"),
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
    let to: Vec<&str> = form.words("to");
    let to: Vec<&str> = to.iter().map(|name| name.trim_start_matches('@')).collect();
    let mut said = json!({"to": to, "body": form.required("body")?});
    if let Some(title) = form.text("title") {
        said["title"] = title.into();
    }
    let act = Act::new(vec![call("post_message", said)], "Sent.");
    Ok(act.undone_by_answer("unsay", "item", "/message_id"))
}

/// What is to be said of a finding: an event that answers the message which reported it.
fn settle(form: &Form<'_>, event: Event) -> Result<Act, Fault> {
    let thread = form.required("thread")?;
    let (says, said) = match event {
        Event::FindingVerified => ("Verified.", "The finding is verified."),
        Event::FindingRejected => ("The fix does not hold.", "The fix is rejected."),
        _ => ("Withdrawn.", "The finding is withdrawn."),
    };
    let event = json!({
        "thread_id": thread,
        "kind": "event",
        "body": form.text("body").unwrap_or(says),
        "metadata": {"event_type": event.as_str()},
        "in_reply_to": form.required("message")?,
    });
    let act = Act::new(vec![call("post_message", event)], said);
    Ok(match said {
        // What was said stands in the log; another word makes the finding open again.
        "The finding is verified." => {
            let message = form.required("message")?;
            let fields = [
                ("thread", thread),
                ("message", message),
                ("body", "Verified too early."),
            ];
            act.undone_by("reject_finding", &fields)
        }
        _ => act,
    })
}

fn status(form: &Form<'_>) -> Result<Act, Fault> {
    let (thread, to) = (form.required("thread")?, form.required("status")?);
    let mut change = json!({"thread_id": thread, "status": to});
    if let Some(reason) = form.text("reason") {
        change["reason"] = reason.into();
    }
    let act = Act::new(
        vec![call("update_thread_status", change)],
        format!("{thread} is {to}."),
    );
    let known = |name: &str| Status::ALL.iter().copied().find(|one| one.as_str() == name);
    let from = form.text("from").and_then(known);
    Ok(match (known(to), from) {
        (Some(to), Some(from)) if to.leads_to().contains(&from) => act.undone_by(
            "status",
            &[
                ("thread", thread),
                ("status", from.as_str()),
                ("reason", "taken back"),
            ],
        ),
        _ => act,
    })
}

/// Adds people to a thread, or takes them out of it.
fn people(form: &Form<'_>, field: &'static str) -> Result<Act, Fault> {
    let thread = form.required("thread")?;
    let named = form.required("to")?;
    let names: Vec<&str> = form.words("to");
    let names: Vec<&str> = names
        .iter()
        .map(|name| name.trim_start_matches('@'))
        .collect();
    let mut change = json!({"thread_id": thread});
    change[field] = names.into();
    let calls = vec![call("update_thread_status", change)];
    Ok(match field {
        "add_participants" => Act::new(calls, format!("{named} takes part."))
            .undone_by("remove_people", &[("thread", thread), ("to", named)]),
        _ => Act::new(calls, format!("{named} takes part no more."))
            .undone_by("add_people", &[("thread", thread), ("to", named)]),
    })
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
