//! Limits of arguments, for every tool in the registry: each list has a maximum, one more is refused
//! by its path, and neither NUL nor a very long text in any string is an internal error.

use std::cell::RefCell;

use crate::every_tool::Script;
use serde_json::{Map, Value, json};
use understory_model::{Code, Fault, limits};
use understory_testkit::{World, on_both};
use understory_tools::Tool;
use understory_tools::registry::tools;

/// A place in some arguments, as a JSON pointer, and what the schema says about it.
type Place<'a> = (String, &'a Value);

fn takes(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        _ => false,
    }
}

/// Every place of a kind that the schema describes: where the arguments go, and the fields beside
/// those that they have.
fn places<'a>(
    kind: &str,
    schema: &'a Value,
    args: Option<&Value>,
    path: &str,
    found: &mut Vec<Place<'a>>,
) {
    if takes(schema, kind) && !path.is_empty() {
        found.push((path.to_owned(), schema));
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let inside = args.and_then(|args| args.get(name));
        // A field of an object that is not given cannot be reached.
        if args.is_some_and(Value::is_object) {
            places(kind, field, inside, &format!("{path}/{name}"), found);
        }
    }
    if let Some(items) = schema.get("items") {
        let first = args.and_then(|args| args.get(0));
        if first.is_some() {
            places(kind, items, first, &format!("{path}/0"), found);
        } else if args.is_some_and(Value::is_array) || (args.is_none() && kind == "string") {
            places(kind, items, None, &format!("{path}/0"), found);
        }
    }
}

/// `/nodes/0/ref` as errors write it.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').filter(|step| !step.is_empty()) {
        match step.parse::<usize>() {
            Ok(index) => path.push_str(&format!("[{index}]")),
            Err(_) if path.is_empty() => path.push_str(step),
            Err(_) => path.push_str(&format!(".{step}")),
        }
    }
    path
}

/// The arguments with another value at a place, whose list is made if need be.
fn with(args: &Value, pointer: &str, value: Value) -> Value {
    let mut args = args.clone();
    let mut at = &mut args;
    for step in pointer.split('/').skip(1) {
        at = match step.parse::<usize>() {
            Ok(index) => {
                if !at.is_array() {
                    *at = json!([]);
                }
                let list = at.as_array_mut().unwrap();
                while list.len() <= index {
                    list.push(Value::Null);
                }
                &mut list[index]
            }
            Err(_) => {
                if !at.is_object() {
                    *at = Value::Object(Map::new());
                }
                at.as_object_mut()
                    .unwrap()
                    .entry(step)
                    .or_insert(Value::Null)
            }
        };
    }
    *at = value;
    args
}

/// Every array that a schema describes, by its path.
fn arrays(at: &str, schema: &Value, found: &mut Vec<(String, Value)>) {
    // Without `items` it is a value of the caller's own making, such as a node's state.
    if takes(schema, "array") && schema.get("items").is_some() {
        found.push((at.to_owned(), schema.clone()));
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        arrays(&format!("{at}.{name}"), field, found);
    }
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            arrays(&format!("{at}[]"), &schema[inner], found);
        }
    }
}

#[test]
fn every_array_of_every_schema_has_a_maximum() {
    let mut found = Vec::new();
    for tool in tools() {
        arrays(tool.name, &tool.input_schema(), &mut found);
    }
    assert!(found.len() > 30, "{}", found.len());
    let missing: Vec<&String> = found
        .iter()
        .filter(|(_, schema)| !schema["maxItems"].is_u64())
        .map(|(at, _)| at)
        .collect();
    assert_eq!(missing, Vec::<&String>::new());
}

/// Texts that may be longer than others, up to a limit of their own in bytes; `state` is any value.
fn is_long(tool: &Tool, path: &str) -> bool {
    let field = path.rsplit('.').next().unwrap_or_default();
    let ids = [
        "replies_to",
        "canonical_at",
        "log",
        "project",
        "idempotency_key",
    ];
    match tool.name {
        "garden_add" => !ids.contains(&field),
        _ => ["body", "content", "ops", "card", "state"].contains(&field),
    }
}

/// What is wrong with an answer to a call whose argument at a path was replaced.
type Judge = dyn Fn(&Tool, &str, &Value, Result<Value, Fault>) -> Option<String>;

/// What each tool answers to arguments that are made of ones that work, called before those.
fn each_change(
    world: &World,
    kind: &'static str,
    change: &dyn Fn(&Tool, &str, &Value) -> Option<Value>,
    judge: &Judge,
) {
    let wrong = RefCell::new(Vec::new());
    let tried = RefCell::new(0);
    Script::run(
        world,
        &|tool, args| {
            let schema = tool.input_schema();
            let mut found = Vec::new();
            places(kind, &schema, Some(&args), "", &mut found);
            for (pointer, field) in found {
                let Some(value) = change(tool, &dotted(&pointer), field) else {
                    continue;
                };
                let answer = world.call(tool.name, with(&args, &pointer, value));
                *tried.borrow_mut() += 1;
                if let Some(problem) = judge(tool, &pointer, field, answer) {
                    wrong.borrow_mut().push(problem);
                }
            }
            args
        },
        &|_, _, _| {},
    );
    assert_eq!(wrong.take(), Vec::<String>::new());
    assert!(tried.take() > 30);
}

#[on_both]
fn a_filter_takes_32_properties_and_no_more(world: World) {
    let named = |count: usize| -> Map<String, Value> {
        (0..count).map(|at| (format!("p{at}"), json!(at))).collect()
    };
    let most = limits::FILTER_PROPERTIES;
    world.ok(
        "graph_plan",
        json!({"nodes": [
            {"ref": "all", "summary": "All", "properties": named(most)},
            {"ref": "few", "summary": "Few", "properties": named(most - 1)},
        ]}),
    );
    let asked = [
        (
            "graph_query",
            "filter.properties",
            json!({"filter": {"properties": named(most)}}),
        ),
        (
            "graph_next",
            "filter",
            json!({"filter": named(most), "count": 5}),
        ),
    ];
    for (tool, path, args) in asked {
        let answer = world.ok(tool, args.clone());
        let text = answer.to_string();
        assert!(
            text.contains("All") && !text.contains("Few"),
            "{tool}: {text}"
        );
        let fault = world.refused(
            tool,
            with(
                &args,
                &format!("/{}", path.replace('.', "/")),
                json!(named(most + 1)),
            ),
        );
        assert_eq!(fault.code, Code::Validation);
        assert_eq!(
            fault.message,
            format!("{path}: has 33 properties; at most 32 are allowed")
        );
    }
    let without = |names: &[&str]| json!({"filter": {"properties": {"p0": 0}, "without": names}});
    assert_eq!(world.ok("graph_query", without(&["p31", "x"]))["total"], 1);
    assert_eq!(world.ok("graph_query", without(&["x"]))["total"], 2);
    assert_eq!(world.ok("graph_query", without(&["p3", "x"]))["total"], 0);
}

#[on_both]
fn a_plan_has_at_most_10000_dependencies(world: World) {
    let nodes = |count: usize| -> Vec<Value> {
        let made = |at: usize| json!({"ref": format!("n{at}"), "summary": "S", "depends_on": vec!["a"; limits::DEPENDENCIES]});
        (0..count)
            .map(made)
            .chain([json!({"ref": "a", "summary": "A"})])
            .collect()
    };
    let most = limits::BATCH_DEPENDENCIES / limits::DEPENDENCIES;
    let fault = world.refused("graph_plan", json!({"nodes": nodes(most + 1)}));
    assert_eq!(
        fault.message,
        "nodes: have 11000 dependencies in all; at most 10000 are allowed"
    );
    world.ok("graph_plan", json!({"nodes": nodes(most)}));
}

#[on_both]
fn one_entry_too_many_is_refused_by_its_path(world: World) {
    let one_more = |_: &Tool, _: &str, schema: &Value| {
        let most = schema["maxItems"].as_u64()? as usize;
        Some(json!(vec![Value::Null; most + 1]))
    };
    each_change(
        &world,
        "array",
        &one_more,
        &|tool, pointer, field, answer| {
            let (path, most) = (dotted(pointer), &field["maxItems"]);
            let most = most.as_u64().unwrap();
            let message = format!(
                "{path}: has {} entries; at most {most} are allowed",
                most + 1
            );
            match answer {
                Err(fault) if fault.message == message && fault.code == Code::Validation => None,
                other => Some(format!("{}.{path}: {other:?}", tool.name)),
            }
        },
    );
}

#[on_both]
fn a_text_too_long_for_any_use_is_refused_by_its_path(world: World) {
    let long = |tool: &Tool, path: &str, field: &Value| {
        let free = !field["enum"].is_array() && !is_long(tool, path);
        free.then(|| json!("x".repeat(limits::TEXT_CHARS + 1)))
    };
    each_change(&world, "string", &long, &|tool, pointer, _, answer| {
        let path = dotted(pointer);
        match answer {
            Err(fault) if fault.code == Code::Validation && fault.message.starts_with(&path) => {
                None
            }
            other => Some(format!("{}.{path}: {other:?}", tool.name)),
        }
    });
}

#[on_both]
fn nul_in_a_string_is_never_an_internal_error(world: World) {
    let nul = |_: &Tool, _: &str, _: &Value| Some(json!("a\0b"));
    each_change(&world, "string", &nul, &|tool, pointer, field, answer| {
        let path = dotted(pointer);
        match answer {
            Ok(_) if field["enum"].is_array() => Some(format!("{}.{path}: taken", tool.name)),
            Ok(_) => None,
            Err(fault)
                if matches!(
                    fault.code,
                    Code::Internal | Code::StoreUnavailable | Code::StoreCorrupt
                ) =>
            {
                Some(format!("{}.{path}: {fault}", tool.name))
            }
            Err(_) => None,
        }
    });
}
