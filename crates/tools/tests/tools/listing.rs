//! What tools cost an agent that lists them, and that what is listed is true.

use crate::common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{Backend, World};
use understory_tools::registry::tools;
use understory_tools::{Access, Effect, Surface, Tool};

fn listing(wanted: impl Fn(&Tool) -> bool) -> Value {
    let shown = |tool: &Tool| json!({"name": tool.name, "description": tool.about, "inputSchema": tool.input_schema()});
    tools()
        .iter()
        .filter(|tool| wanted(tool))
        .map(shown)
        .collect()
}

#[test]
fn the_graph_surface_lists_in_2500_tokens() {
    let listed = listing(|tool| tool.surface == Surface::Graph);
    assert!(tokens(&listed) <= 2_500, "{}", tokens(&listed));
}

#[test]
fn no_surface_lists_more_than_4500_tokens() {
    for surface in Surface::ALL {
        let cost = tokens(&listing(|tool| tool.surface == surface));
        assert!(cost <= 4_500, "{}: {cost}", surface.name());
    }
}

#[test]
fn the_essentials_are_13_tools_in_3000_tokens_and_name_the_rest() {
    let listed = listing(|tool| tool.essential);
    assert!(listed.as_array().unwrap().len() <= 13);
    assert!(tokens(&listed) <= 3_000, "{}", tokens(&listed));
    assert!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .any(|tool| tool["name"] == "toolset")
    );
}

#[test]
fn names_are_unique_and_fit_every_client() {
    let mut names: Vec<&str> = tools().iter().map(|tool| tool.name).collect();
    assert!(
        names
            .iter()
            .all(|name| name.len() <= 64
                && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
    );
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), tools().len());
}

/// A node of a schema says what it is; no noise stands in it.
fn check_schema(at: &str, schema: &Value) {
    for noise in ["title", "$schema", "$ref", "$defs", "format", "default"] {
        assert!(schema.get(noise).is_none(), "{at} has {noise}");
    }
    if let Some(fields) = schema["properties"].as_object() {
        for (name, field) in fields {
            check_schema(&format!("{at}.{name}"), field);
        }
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(
                fields.contains_key(required.as_str().unwrap()),
                "{at}: {required}"
            );
        }
    }
    if let Some(items) = schema.get("items") {
        check_schema(&format!("{at}[]"), items);
    }
}

#[test]
fn schemas_are_objects_without_noise() {
    for tool in tools() {
        let schema = tool.input_schema();
        assert_eq!(schema["type"], "object", "{}", tool.name);
        check_schema(tool.name, &schema);
    }
}

#[test]
fn every_example_uses_fields_of_its_schema_and_decodes() {
    let world = World::new(Backend::sqlite());
    world.plan(&["A", "B"]);
    for title in ["Q", "A"] {
        let record =
            json!({"parent_id": null, "type": "note", "title": title, "summary": "", "body": ""});
        world.ok("create_record", record);
    }
    let alive = json!({"runtime": "codex_cli", "resumable": true});
    let reviewer = World::caller("reviewer");
    world
        .call_as(&reviewer, "heartbeat_session", alive)
        .unwrap();
    for tool in tools() {
        let example: Value = serde_json::from_str(tool.example).expect(tool.name);
        let fields = tool.input_schema()["properties"].clone();
        for field in example.as_object().unwrap().keys() {
            assert!(fields.get(field).is_some(), "{}: {field}", tool.name);
        }
        match world.call(tool.name, example) {
            // A conflict has a name that no example can know.
            Err(fault) if tool.name.contains("_conflict_") => {
                assert_eq!(fault.code, Code::NotFound, "{}: {fault}", tool.name);
            }
            // Nor can it know a uuid or a cursor.
            Err(fault) if tool.example.contains("0199d3a0") => {
                assert_eq!(fault.code, Code::NotFound, "{}: {fault}", tool.name);
            }
            Err(fault) if tool.example.contains("\"…\"") => {
                assert_eq!(fault.code, Code::Validation, "{}: {fault}", tool.name);
            }
            answer => drop(answer.unwrap_or_else(|fault| panic!("{}: {fault}", tool.name))),
        }
    }
}

#[test]
fn every_field_of_a_schema_is_taken_and_no_other() {
    let world = World::new(Backend::sqlite());
    for tool in tools() {
        let mut args: Value = serde_json::from_str(tool.example).expect(tool.name);
        args["surely_unknown"] = json!(1);
        let fault = world.call(tool.name, args).unwrap_err();
        assert!(
            fault.message.contains("surely_unknown"),
            "{}: {fault}",
            tool.name
        );
        for field in tool.input_schema()["properties"]
            .as_object()
            .unwrap()
            .keys()
        {
            let fault = world.call(tool.name, json!({field: {"no": ["such", {"type": 1}]}}));
            let unknown = format!("{field}: unknown field");
            let known = fault
                .as_ref()
                .err()
                .is_none_or(|fault| !fault.message.starts_with(&unknown));
            assert!(known, "{}.{field}: {fault:?}", tool.name);
        }
    }
}

#[test]
fn every_tool_has_a_title_and_says_what_it_changes() {
    let mut titles: Vec<&str> = Vec::new();
    for tool in tools() {
        let title = tool.title;
        assert!(
            title.starts_with(char::is_uppercase) && title.len() <= 32,
            "{title}"
        );
        assert_eq!(
            tool.effect == Effect::Nothing,
            tool.access == Access::Read,
            "{}",
            tool.name
        );
        titles.push(title);
    }
    titles.sort_unstable();
    titles.dedup();
    assert_eq!(titles.len(), tools().len(), "two tools have one title");
}

/// With these alone an agent settles whatever it can open with them.
#[test]
fn the_essentials_close_what_they_open() {
    let essential = |name: &str| {
        tools()
            .iter()
            .any(|tool| tool.name == name && tool.essential)
    };
    for (opens, settles) in [
        ("graph_plan", "graph_update"),
        ("graph_next", "graph_update"),
        ("create_record", "transition"),
        ("activate", "update_record"),
        ("post_message", "wait_for_messages"),
    ] {
        assert!(
            essential(opens) && essential(settles),
            "{opens} without {settles}"
        );
    }
}

/// One beginning: what an agent is told there it can do with the tools that it is shown.
#[test]
fn onboarding_names_listed_tools_and_real_fields() {
    let world = World::new(Backend::sqlite());
    let mut known: Vec<String> = Vec::new();
    for tool in tools().iter().filter(|tool| tool.essential) {
        known.push(tool.name.into());
        let schema = tool.input_schema();
        let inner = schema["properties"].as_object().into_iter().flatten();
        known.extend(inner.clone().map(|(name, _)| name.clone()));
        let inner = inner.filter_map(|(_, field)| field["items"]["properties"].as_object());
        known.extend(inner.flatten().map(|(name, _)| name.clone()));
    }
    let check = |known: &[String]| {
        let answer = world.ok("graph_onboard", json!({}));
        let hint = answer["hint"].as_str().unwrap();
        let words = hint.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        for word in words.filter(|word| word.contains('_')) {
            assert!(known.iter().any(|name| name == word), "{word} in {hint}");
        }
    };
    check(&known);
    let made = world.plan(&["A", "B"]);
    check(&known);
    world.ok(
        "graph_connect",
        json!({"edges": [{"from": made[0], "to": made[1], "type": "depends_on"}]}),
    );
    world.ok("graph_next", json!({"claim": true}));
    check(&known);
    let all = ["TASK-001", "TASK-002", "PLAN-001"];
    let updates: Vec<Value> = all
        .iter()
        .map(|id| json!({"node_id": id, "resolved": true}))
        .collect();
    world.ok("graph_update", json!({ "updates": updates }));
    check(&known);
}

/// The contract's table of estimates.
#[test]
fn answers_cost_what_the_contract_estimates() {
    let world = World::new(Backend::sqlite());
    world.ok(
        "graph_open",
        json!({"project": "default", "goal": "Ship the web shop"}),
    );
    let refs = ["a", "b", "c", "d"];
    let nodes: Value = refs
        .iter()
        .map(|name| json!({"ref": name, "summary": "Write one part"}))
        .collect();
    let cost = |tool: &str, args: Value, (asked, most): (usize, usize)| {
        assert!(
            tokens(&args) <= asked,
            "{tool}: {} tokens: {args}",
            tokens(&args)
        );
        let answer = world.ok(tool, args);
        assert!(
            tokens(&answer) <= most,
            "{tool}: {} tokens: {answer}",
            tokens(&answer)
        );
    };
    cost("graph_plan", json!({ "nodes": nodes }), (160, 55));
    cost("graph_open", json!({"project": "default"}), (30, 100));
    cost(
        "graph_connect",
        json!({"edges": [{"from": "TASK-002", "to": "TASK-001", "type": "depends_on"}]}),
        (40, 20),
    );
    cost(
        "graph_query",
        json!({"limit": 3, "filter": {"resolved": false}}),
        (60, 130),
    );
    cost("graph_next", json!({"claim": true}), (30, 200));
    cost("graph_context", json!({"node_id": "TASK-001"}), (20, 220));
    cost(
        "graph_update",
        json!({"updates": [{"node_id": "TASK-001", "resolved": true}]}),
        (80, 40),
    );
    cost(
        "graph_restructure",
        json!({"operations": [{"op": "move", "node_id": "TASK-003", "new_parent": "TASK-004"}]}),
        (50, 40),
    );
    cost("graph_history", json!({"node_id": "TASK-001"}), (20, 200));
    cost("graph_onboard", json!({}), (20, 600));
}

/// The same table says how plans and queries grow.
#[test]
fn answers_grow_as_the_contract_estimates() {
    let world = World::new(Backend::sqlite());
    let goal = json!({"project": "default", "goal": "Ship the web shop"});
    world.ok("graph_open", goal);
    let nodes: Value = (0..40)
        .map(|n| json!({"ref": format!("r{n}"), "summary": "Write one part of the web shop"}))
        .collect();
    let plan = json!({ "nodes": nodes });
    let answer = world.ok("graph_plan", plan.clone());
    assert!(tokens(&plan) <= 40 * 40, "a plan: {}", tokens(&plan));
    assert!(tokens(&answer) <= 10 * 55, "its ids: {}", tokens(&answer));
    let answer = world.ok("graph_query", json!({"limit": 40}));
    assert_eq!(answer["nodes"].as_array().unwrap().len(), 40);
    assert!(tokens(&answer) <= 40 * 45, "a page: {}", tokens(&answer));
}

#[test]
fn what_has_no_room_in_the_listing_is_described_for_people() {
    let tool = tools().iter().find(|tool| tool.name == "garden_add");
    let tool = tool.unwrap();
    let described = tool.described_schema();
    for (name, field) in described["properties"].as_object().unwrap() {
        // What these mean is said once for all tools.
        let common = ["caused_by", "idempotency_key"].contains(&name.as_str());
        assert!(common || field["description"].is_string(), "{name}");
    }
    for schema in [described, tool.input_schema()] {
        assert!(!schema.to_string().contains("\"x-"), "{schema}");
    }
    let listed = &tool.input_schema()["properties"]["subject"];
    assert_eq!(*listed, json!({"type": "string"}));
}
