//! What the tools of the threads answer, as JSON schemas for the OpenAPI document.
//!
//! They say what is there, not that nothing else is: answers may grow. A budget (`max_chars`) can
//! take almost everything away, so few fields are required. The schemathesis test holds real answers
//! against them, and finds fields that are not named here.

use serde_json::{Map, Value, json};

/// The answer of a tool; none where that is not written down.
pub fn of(tool: &str) -> Option<Value> {
    let fields = match tool {
        "create_thread" => vec![
            ("thread_id", text()),
            ("status", text()),
            ("created_at", time()),
            ("unknown_participants?", list(unknown())),
        ],
        "get_thread" => thread(),
        "list_threads" => vec![
            ("threads", list(listed())),
            ("unread?", unread()),
            more(),
            cut(),
        ],
        "update_thread_status" => vec![
            ("thread_id", text()),
            ("status", text()),
            ("updated_at", time()),
            ("participants?", list(text())),
            ("unknown_participants?", list(unknown())),
        ],
        "post_message" => vec![
            ("message_id", text()),
            ("thread_id?", text()),
            ("seq", whole()),
            ("thread_status", text()),
            ("created_at", time()),
            ("finding?", json!({ "type": "object" })),
            ("note?", text()),
            ("unknown_participants?", list(unknown())),
        ],
        "read_messages" => vec![
            ("thread_id?", text()),
            ("schema_version?", whole()),
            ("messages", list(message())),
            ("changes?", list(change())),
            ("next_seq?", whole()),
            ("has_more?", truth()),
            cut(),
        ],
        "wait_for_messages" => vec![
            ("messages", list(message())),
            ("changes?", list(change())),
            ("hint?", text()),
            (
                "next?",
                json!({ "type": "object", "additionalProperties": whole() }),
            ),
            ("has_more?", truth()),
            ("timed_out?", truth()),
            cut(),
        ],
        "ack_read" => vec![
            ("ok", truth()),
            ("last_read_seq", whole()),
            ("last_acked_message_id?", text()),
            ("updated_at", time()),
        ],
        "heartbeat_session" => vec![("ok", truth()), ("recorded_at", time())],
        "summarize_thread" => summary(),
        "trigger_participant" => woken(),
        _ => return None,
    };
    Some(object(&fields))
}

fn thread() -> Vec<(&'static str, Value)> {
    let reader = object(&[
        ("agent_id", text()),
        ("last_read_seq", whole()),
        ("last_acked_message_id?", text()),
        ("updated_at?", time()),
        ("waits?", truth()),
        ("session_id?", text()),
        ("runtime?", text()),
        ("management_mode?", text()),
        ("resumable?", truth()),
        ("status?", text()),
        ("last_heartbeat_at?", time()),
        ("last_seen?", time()),
        ("alive?", truth()),
    ]);
    let wake = object(&[
        ("wake_id", text()),
        ("target_agent_id", text()),
        ("action", text()),
        ("result", text()),
        ("updated_at", time()),
    ]);
    vec![
        ("thread_id?", text()),
        ("workspace_id?", text()),
        ("title?", text()),
        ("type?", text()),
        ("status?", text()),
        ("participants?", list(text())),
        ("created_by?", text()),
        ("created_at?", time()),
        ("updated_at?", time()),
        ("last_seq?", whole()),
        ("last_read_seq?", whole()),
        ("unread?", whole()),
        ("open_findings?", whole()),
        ("open_items?", whole()),
        ("changes?", list(change())),
        ("readers?", list(reader)),
        ("wakes?", list(wake)),
        cut(),
    ]
}

fn summary() -> Vec<(&'static str, Value)> {
    let said = [
        ("message_id", text()),
        ("sender_agent_id", text()),
        ("created_at", time()),
        ("seq?", whole()),
        ("kind?", text()),
        ("event_type?", text()),
        ("body?", text()),
    ];
    let finding = [
        ("item", text()),
        ("for?", text()),
        ("state?", text()),
        ("commits?", list(text())),
        ("finding_id?", any()),
        ("severity?", any()),
        ("file?", any()),
        ("line?", any()),
        ("task_id?", any()),
    ];
    let open = [&said[..], &finding[..]].concat();
    let findings = [
        "reported",
        "fixed",
        "verified",
        "rejected",
        "withdrawn",
        "unanswered",
        "open",
    ];
    let findings: Vec<(&str, Value)> = findings.map(|name| (name, whole())).to_vec();
    vec![
        ("thread_id?", text()),
        ("title?", text()),
        ("summary?", text()),
        ("participants?", list(json!({ "type": "object" }))),
        ("span?", json!({ "type": "object" })),
        ("topics?", list(text())),
        ("resolved_by?", list(text())),
        ("changes?", list(change())),
        ("open_items_total?", whole()),
        ("first_messages?", list(object(&said))),
        ("findings?", object(&findings)),
        ("commits?", list(text())),
        ("open_items?", list(object(&open))),
        ("last_messages?", list(object(&said))),
        ("last_status?", text()),
        ("messages?", whole()),
        cut(),
    ]
}

fn woken() -> Vec<(&'static str, Value)> {
    vec![
        ("wake_id?", text()),
        ("thread_id", text()),
        ("target_agent_id", text()),
        ("action", text()),
        ("result", text()),
        ("fallback?", json!({ "type": "object" })),
        ("started", truth()),
        ("unread", whole()),
        ("note", text()),
        ("fallback_action?", text()),
        ("runtime_command?", any()),
        ("session_id?", text()),
        ("runtime?", text()),
    ]
}

/// A thread in a list.
fn listed() -> Value {
    object(&[
        ("thread_id", text()),
        ("title?", text()),
        ("type", text()),
        ("status", text()),
        ("participants?", list(text())),
        ("created_by", text()),
        ("last_seq", whole()),
        ("open_findings", whole()),
        ("open_items?", whole()),
        ("updated_at", time()),
        ("unread?", whole()),
    ])
}

/// A change of a thread's status or participants.
fn change() -> Value {
    object(&[
        ("thread_id?", text()),
        ("change", whole()),
        ("after_seq", whole()),
        ("from?", text()),
        ("status?", text()),
        ("added_participants?", list(text())),
        ("reason?", text()),
        ("metadata?", json!({ "type": "object" })),
        ("metadata_chars?", whole()),
        ("by", text()),
        ("at", time()),
    ])
}

/// A participant that was never seen.
fn unknown() -> Value {
    object(&[("agent_id", text()), ("nearest?", list(text()))])
}

fn message() -> Value {
    object(&[
        ("message_id", text()),
        ("thread_id?", text()),
        ("seq?", whole()),
        ("schema_version?", whole()),
        ("kind?", text()),
        ("body?", text()),
        ("body_chars?", whole()),
        ("metadata?", json!({ "type": "object" })),
        ("in_reply_to?", text()),
        ("undone?", json!({ "type": "boolean" })),
        ("idempotency_key?", text()),
        ("sender_agent_id?", text()),
        ("sender_session_id?", text()),
        ("created_at?", time()),
    ])
}

fn unread() -> Value {
    let newest = object(&[
        ("thread_id", text()),
        ("title", text()),
        ("unread", whole()),
    ]);
    object(&[
        ("threads", whole()),
        ("messages", whole()),
        ("newest?", list(newest)),
    ])
}

/// Said of an answer from which something was left out.
fn cut() -> (&'static str, Value) {
    ("truncated?", truth())
}

/// Where the next page begins.
fn more() -> (&'static str, Value) {
    ("next_cursor?", text())
}

/// An object; a name that ends in `?` may be missing.
fn object(fields: &[(&str, Value)]) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, schema) in fields {
        match name.strip_suffix('?') {
            Some(name) => drop(properties.insert(name.to_owned(), schema.clone())),
            None => {
                properties.insert((*name).to_owned(), schema.clone());
                required.push(*name);
            }
        }
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn whole() -> Value {
    json!({ "type": "integer" })
}

fn truth() -> Value {
    json!({ "type": "boolean" })
}

fn any() -> Value {
    json!({})
}

#[cfg(test)]
mod tests {
    use super::*;
    use understory_tools::{Surface, registry};

    #[test]
    fn every_tool_of_the_threads_without_a_type_has_one() {
        for tool in registry::tools() {
            let is_ours = tool.surface == Surface::Threads;
            let typed = tool.output_schema().get("properties").is_some();
            assert_eq!(of(tool.name).is_some(), is_ours && !typed, "{}", tool.name);
        }
    }
}
