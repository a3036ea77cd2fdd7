//! What tools of the graph answer, as JSON schemas for the OpenAPI document.
//!
//! They say what is there, not that nothing else is: answers may grow. A budget (`max_chars`) can
//! take almost everything away, so few fields are required. The schemathesis test holds real answers
//! against them, and finds fields that are not named here.

use serde_json::{Map, Value, json};

/// The answer of a tool; none where that is not written down.
pub fn of(tool: &str) -> Option<Value> {
    let fields = match tool {
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
        "graph_restructure" => vec![
            ("applied", whole()),
            ("details", list(restructured())),
            ("newly_actionable?", list(line(&[]))),
        ],
        "graph_onboard" => onboard(),
        _ => return None,
    };
    Some(object(&fields))
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
    fn every_tool_of_the_graph_and_the_threads_without_a_type_has_one() {
        for tool in registry::tools() {
            let is_ours = matches!(tool.surface, Surface::Graph | Surface::Threads);
            let typed = tool.output_schema().get("properties").is_some();
            assert_eq!(of(tool.name).is_some(), is_ours && !typed, "{}", tool.name);
        }
    }
}
