//! What the tools of the threads and of the graph answer, as JSON schemas for the OpenAPI document.
//!
//! They say what is there, not that nothing else is: answers may grow. A budget (`max_chars`) can
//! take almost everything away, so few fields are required. The schemathesis test holds real answers
//! against them, and finds fields that are not named here.

use serde_json::{Map, Value, json};
use understory_tools::{Access, Tool, registry};

/// The answer of a tool; none where that is not written down.
pub fn of(tool: &str) -> Option<Value> {
    let mut fields = match tool {
        "graph_open" => vec![
            ("root?", node()),
            ("summary?", counts()),
            ("projects?", list(project())),
            ("goal_ignored?", text()),
            cut(),
        ],
        "graph_plan" => vec![("created", list(object(&[("ref", text()), ("id", text())])))],
        "graph_next" => vec![
            ("nodes", list(ready())),
            ("reason?", reason()),
            ("hint?", text()),
            cut(),
        ],
        "graph_query" => vec![("nodes", list(found())), ("total?", whole()), more(), cut()],
        "graph_context" => vec![
            ("node?", node()),
            ("merged_from?", text()),
            ("ancestors?", list(line(&[("resolved", truth())]))),
            ("children?", branch(list(json!({ "type": "object" })))),
            ("depends_on?", list(dependency())),
            ("depended_by?", list(dependency())),
            ("edges?", list(edge())),
            cut(),
        ],
        "graph_history" => vec![("events", list(event())), more(), cut()],
        "graph_connect" => vec![
            ("applied", whole()),
            (
                "rejected?",
                list(object(&[
                    ("from", text()),
                    ("to", text()),
                    ("reason", text()),
                    ("cycle?", list(text())),
                    ("merged_into?", text()),
                ])),
            ),
            ("newly_actionable?", list(line(&[]))),
        ],
        "graph_update" => vec![
            (
                "updated",
                list(object(&[
                    ("node_id", text()),
                    ("rev", whole()),
                    ("unchanged?", truth()),
                ])),
            ),
            ("newly_actionable?", list(line(&[]))),
        ],
        "graph_restructure" => vec![
            ("applied", whole()),
            ("details", list(restructured())),
            ("newly_actionable?", list(line(&[]))),
        ],
        "graph_onboard" => onboard(),
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
    if registry::find(tool).is_some_and(|tool| tool.access != Access::Read) {
        fields.extend(credentials());
    }
    Some(object(&fields))
}

/// What any call that writes adds when its arguments look like they hold a credential.
pub fn credentials() -> [(&'static str, Value); 2] {
    let one = object(&[("path", text()), ("kind", text())]);
    [("credentials?", list(one)), ("warnings?", list(text()))]
}

/// The answer of a tool that is not written down.
pub fn unknown_of(tool: &Tool) -> Value {
    match tool.access {
        Access::Read => json!({ "type": "object" }),
        Access::Write | Access::ReadOrWrite => object(&credentials()),
    }
}

/// Another agent who is here.
fn present() -> Value {
    object(&[
        ("agent", text()),
        ("alive", truth()),
        ("seen", time()),
        ("on?", list(text())),
    ])
}

fn onboard() -> Vec<(&'static str, Value)> {
    vec![
        ("you?", text()),
        ("workspace?", text()),
        ("project?", text()),
        ("root?", text()),
        ("goal?", text()),
        ("summary?", counts()),
        (
            "recent?",
            list(line(&[
                ("by", text()),
                ("at", time()),
                ("dropped?", truth()),
            ])),
        ),
        (
            "in_progress?",
            list(line(&[
                ("by", text()),
                ("session", text()),
                ("since", time()),
            ])),
        ),
        ("next?", list(line(&[]))),
        ("unread?", unread()),
        ("here?", list(present())),
        ("hint?", text()),
        cut(),
    ]
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

/// A node whole; of the fields but its name, a small budget leaves few.
fn node() -> Value {
    let evidence = object(&[
        ("type", text()),
        ("ref", text()),
        ("agent", text()),
        ("timestamp", time()),
    ]);
    object(&[
        ("id", text()),
        ("rev", whole()),
        ("resolved", truth()),
        ("parent?", text()),
        ("summary?", text()),
        ("dropped?", truth()),
        ("state?", any()),
        ("properties?", json!({ "type": "object" })),
        ("context_links?", list(text())),
        ("evidence?", list(evidence)),
        ("created_at?", time()),
        ("updated_at?", time()),
        ("created_by?", text()),
    ])
}

/// A node that can be worked on, with what one has to know for it.
fn ready() -> Value {
    let inherited = object(&[("node_id", text()), ("links", list(text()))]);
    let links = object(&[("self", list(text())), ("inherited", list(inherited))]);
    object(&[
        ("node", node()),
        ("ancestors?", list(line(&[]))),
        ("context_links?", links),
        (
            "resolved_deps?",
            list(line(&[("evidence", list(json!({ "type": "object" })))])),
        ),
    ])
}

/// A node in a list of those that were found.
fn found() -> Value {
    line(&[
        ("resolved", truth()),
        ("state?", any()),
        ("parent?", text()),
        ("depth", whole()),
        ("properties", json!({ "type": "object" })),
    ])
}

/// A node with what is below it.
fn branch(children: Value) -> Value {
    line(&[
        ("resolved", truth()),
        ("dropped?", truth()),
        ("state?", any()),
        ("child_count?", whole()),
        ("children?", children),
    ])
}

/// An edge that orders no work.
fn edge() -> Value {
    object(&[
        ("type", text()),
        ("direction", text()),
        ("node", line(&[("resolved", truth())])),
    ])
}

/// Why nothing is next.
fn reason() -> Value {
    let claim = object(&[
        ("id", text()),
        ("by", text()),
        ("session", text()),
        ("since", time()),
        ("until", time()),
        ("alive", truth()),
    ]);
    object(&[
        ("code", text()),
        ("message?", text()),
        ("open?", whole()),
        ("blocked?", whole()),
        ("claimed?", whole()),
        ("claims?", list(claim)),
        ("waits_for?", list(line(&[]))),
        ("cycle?", list(text())),
    ])
}

fn dependency() -> Value {
    object(&[("node", node()), ("satisfied", truth())])
}

fn event() -> Value {
    let change = object(&[("field", text()), ("before", any()), ("after", any())]);
    object(&[
        ("timestamp", time()),
        ("agent", text()),
        ("action", text()),
        ("changes", list(change)),
        ("reason?", text()),
        ("merged_into?", text()),
    ])
}

fn restructured() -> Value {
    object(&[
        ("op", text()),
        ("node_id", text()),
        ("result", text()),
        ("taken?", list(text())),
        ("dropped?", list(text())),
    ])
}

fn project() -> Value {
    line(&[
        ("total", whole()),
        ("resolved", whole()),
        ("unresolved", whole()),
        ("updated_at", time()),
    ])
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

/// How a project stands.
fn counts() -> Value {
    let names = ["total", "resolved", "unresolved", "blocked", "actionable"];
    object(&names.map(|name| (name, whole())))
}

/// Something by its name and what it is about.
fn line(more: &[(&str, Value)]) -> Value {
    let both = [("id", text()), ("summary", text())];
    object(&[&both, more].concat())
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
    fn every_tool_of_the_graph_and_the_threads_has_one() {
        for tool in registry::tools() {
            let is_ours = matches!(tool.surface, Surface::Graph | Surface::Threads);
            assert_eq!(of(tool.name).is_some(), is_ours, "{}", tool.name);
        }
    }
}
