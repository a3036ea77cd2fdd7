//! Schemas that agree with the server: what a client may send by a tool's schema is served, what it
//! must send is asked for by name, and what is wrong is said in the caller's words.

use crate::every_tool::Script;
use serde_json::{Map, Value, json};
use understory_model::{Code, Fault};
use understory_testkit::{Backend, World, on_both};
use understory_tools::registry::tools;
use understory_tools::{Effect, Tool};

/// What every tool answers.
fn said(world: &World, change: &dyn Fn(&Tool, Value) -> Value) -> Vec<(&'static str, Value)> {
    let mut answers = Script::run(world, change, &|_, _, _| {});
    for (_, answer) in &mut answers {
        // Time and chance repeat in tests; where a store lies does not.
        answer.as_object_mut().unwrap().remove("storage_dir");
    }
    answers
}

fn fields(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema["required"].as_array();
    required.is_some_and(|required| required.iter().any(|one| one == name))
}

fn takes_null(field: &Value) -> bool {
    field["type"]
        .as_array()
        .is_some_and(|types| types.contains(&json!("null")))
}

/// The arguments with null for every field that may be left out and was.
fn with_nulls(schema: &Value, args: &mut Value) {
    match args {
        Value::Object(given) if schema["properties"].is_object() => {
            for (name, field) in fields(schema) {
                match given.get_mut(name) {
                    Some(value) => with_nulls(field, value),
                    None if !takes_null(field) && !is_required(schema, name) => {
                        given.insert(name.clone(), Value::Null);
                    }
                    None => {}
                }
            }
        }
        Value::Array(entries) => entries
            .iter_mut()
            .for_each(|entry| with_nulls(&schema["items"], entry)),
        _ => {}
    }
}

/// The arguments with every integer written as a number with a point.
fn with_points(schema: &Value, args: &mut Value) {
    let types = &schema["type"];
    let integer = *types == "integer"
        || types
            .as_array()
            .is_some_and(|types| types.contains(&json!("integer")));
    match args {
        Value::Number(number) if integer => *args = json!(number.as_f64().unwrap()),
        Value::Object(given) => {
            for (name, value) in given {
                with_points(&schema["properties"][name], value);
            }
        }
        Value::Array(entries) => entries
            .iter_mut()
            .for_each(|entry| with_points(&schema["items"], entry)),
        _ => {}
    }
}

/// Every place in the arguments where a schema knows what stands there.
fn objects<'a>(
    schema: &'a Value,
    args: &Value,
    path: &str,
    found: &mut Vec<(String, &'a Value, Map<String, Value>)>,
) {
    match args {
        Value::Object(given) if schema["properties"].is_object() => {
            found.push((path.to_owned(), schema, given.clone()));
            for (name, field) in fields(schema) {
                if let Some(value) = given.get(name) {
                    objects(field, value, &format!("{path}/{name}"), found);
                }
            }
        }
        Value::Array(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                objects(&schema["items"], entry, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
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

/// Tools whose fields are needed or not by what another field says.
const DEPENDS: [&str; 6] = [
    "branchmind_graph_apply",
    "garden_add",
    "graph_restructure",
    "post_message",
    "reader_scroll",
    "update_thread_status",
];

/// Words of this program that no caller knows.
fn foreign(fault: &Fault) -> Option<&'static str> {
    let said = format!(
        "{} {}",
        fault.message,
        fault.hint.clone().unwrap_or_default()
    );
    let words = [
        "i64",
        "u64",
        "f64",
        "usize",
        "struct ",
        "a sequence",
        "a map",
        "variant",
        ", expected ",
        "untagged",
    ];
    words.into_iter().find(|word| said.contains(word))
}

#[on_both]
fn a_client_that_sends_null_for_every_optional_field_is_served(world: World) {
    let other = World::new(world.backend.another());
    let plain = said(&world, &|_, args| args);
    let nulls = said(&other, &|tool, mut args| {
        with_nulls(&tool.input_schema(), &mut args);
        args
    });
    for (plain, nulls) in plain.iter().zip(&nulls) {
        assert_eq!(plain, nulls);
    }
}

#[on_both]
fn an_integer_may_be_written_with_a_point(world: World) {
    let other = World::new(world.backend.another());
    let plain = said(&world, &|_, args| args);
    let points = said(&other, &|tool, mut args| {
        with_points(&tool.input_schema(), &mut args);
        args
    });
    for (plain, points) in plain.iter().zip(&points) {
        assert_eq!(plain, points);
    }
}

#[on_both]
fn what_settles_changes_nothing_the_second_time(world: World) {
    let wrong = std::cell::RefCell::new(Vec::new());
    Script::run(&world, &|_, args| args, &|world, tool, args| {
        if tool.effect == Effect::Settles {
            let before = world.head();
            let again = world.call(tool.name, args.clone());
            if world.head() != before {
                wrong
                    .borrow_mut()
                    .push(format!("{} {args}: {again:?}", tool.name));
            }
        }
    });
    assert_eq!(wrong.take(), Vec::<String>::new());
}

#[on_both]
fn what_only_reads_writes_nothing(world: World) {
    let before = std::cell::Cell::new(0);
    Script::run(
        &world,
        &|_, args| {
            before.set(world.head());
            args
        },
        &|world, tool, args| {
            if tool.effect == Effect::Nothing {
                assert_eq!(world.head(), before.get(), "{} {args}", tool.name);
            }
        },
    );
}

#[test]
fn every_property_has_a_type_and_every_choice_is_an_enum() {
    fn check(at: &str, schema: &Value) {
        for (name, field) in fields(schema) {
            let at = format!("{at}.{name}");
            assert!(
                field["type"].is_string() || field["type"].is_array(),
                "{at} has no type: {field}"
            );
            let about = field["description"].as_str().unwrap_or_default();
            assert!(
                !about.contains("(default)"),
                "{at} lists choices in words: {about}"
            );
            check(&at, field);
            if field["items"].is_object() {
                let items = &field["items"];
                assert!(
                    items["type"].is_string() || items["type"].is_array(),
                    "{at}[] has no type"
                );
                check(&format!("{at}[]"), items);
            }
        }
    }
    for tool in tools() {
        check(tool.name, &tool.input_schema());
    }
}

#[test]
fn what_a_schema_requires_the_server_requires_and_nothing_else() {
    let world = World::new(Backend::sqlite());
    world.plan(&["A", "B"]);
    for tool in tools() {
        let schema = tool.input_schema();
        let example: Value = serde_json::from_str(tool.example).expect(tool.name);
        let mut places = Vec::new();
        objects(&schema, &example, "", &mut places);
        for (path, schema, given) in places {
            for (name, _) in fields(schema) {
                let pointer = format!("{path}/{name}");
                let mut args = example.clone();
                let inside = args.pointer_mut(&path).unwrap().as_object_mut().unwrap();
                inside.remove(name);
                let required = is_required(schema, name);
                assert!(
                    !required || given.contains_key(name),
                    "{} has no {name} in its example",
                    tool.name
                );
                let answer = world.call(tool.name, args);
                match (answer, required) {
                    (Err(fault), true) => {
                        let field = dotted(&pointer);
                        assert_eq!(fault.code, Code::Validation, "{}: {fault}", tool.name);
                        assert_eq!(
                            fault.message,
                            format!("{field}: is required"),
                            "{}",
                            tool.name
                        );
                        assert_eq!(
                            fault.details.unwrap()["field"],
                            field.as_str(),
                            "{}",
                            tool.name
                        );
                    }
                    (Ok(answer), true) => panic!("{} without {name}: {answer}", tool.name),
                    (Err(fault), false) => {
                        let wrong = fault.message == format!("{}: is required", dotted(&pointer));
                        // What is needed depends on another field: no schema says that in a few words.
                        let either = DEPENDS.contains(&tool.name);
                        assert!(!wrong || either, "{}: {fault}", tool.name);
                    }
                    (Ok(_), false) => {}
                }
            }
        }
    }
}

#[test]
fn a_wrong_type_is_said_in_the_callers_words() {
    let world = World::new(Backend::sqlite());
    world.plan(&["A", "B"]);
    let wrong = [
        json!("text"),
        json!(7),
        json!(7.5),
        json!(true),
        json!([1]),
        json!({"x": 1}),
        json!(null),
        json!(u64::MAX),
    ];
    for tool in tools() {
        let schema = tool.input_schema();
        let example: Value = serde_json::from_str(tool.example).expect(tool.name);
        for (name, _) in fields(&schema) {
            // Any number of seconds is right, and would be waited for.
            let waits = |value: &Value| name == "timeout_s" && value.is_number();
            for value in wrong.iter().filter(|value| !waits(value)) {
                let mut args = example.clone();
                args[name] = value.clone();
                if let Err(fault) = world.call(tool.name, args) {
                    assert_eq!(
                        foreign(&fault),
                        None,
                        "{}.{name} = {value}: {fault:?}",
                        tool.name
                    );
                    let field = fault
                        .details
                        .as_ref()
                        .and_then(|details| details["field"].as_str());
                    let named = field.is_none_or(|field| {
                        fault.message.starts_with(field) || fault.code != Code::Validation
                    });
                    assert!(named, "{}.{name} = {value}: {fault:?}", tool.name);
                }
            }
        }
        let mut args = example.clone();
        args["surely_unknown"] = json!(1);
        let fault = world.call(tool.name, args).unwrap_err();
        if tool.name != "garden_add" {
            let allowed = fault.details.unwrap()["allowed"].as_array().unwrap().len();
            assert_eq!(
                allowed,
                fields(&schema).count(),
                "{} names all it takes",
                tool.name
            );
            assert!(
                fault
                    .message
                    .starts_with("surely_unknown: unknown field; allowed: "),
                "{}",
                fault.message
            );
        }
    }
}
