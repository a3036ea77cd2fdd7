//! What the tests of the garden share: short ways to say and to ask.

use serde_json::{Value, json};
use understory_model::{Caller, Role};
use understory_testkit::World;

/// An agent of the world's workspace in a role.
pub fn caller(agent: &str, role: Role) -> Caller {
    Caller {
        role,
        ..World::caller(agent)
    }
}

/// A call of another worker that must succeed.
#[track_caller]
pub fn by(world: &World, agent: &str, tool: &str, args: Value) -> Value {
    let answer = world.call_as(&World::caller(agent), tool, args);
    answer.unwrap_or_else(|fault| panic!("{tool} by {agent}: {fault:?}"))
}

/// The list under a name.
#[track_caller]
pub fn list<'a>(answer: &'a Value, name: &str) -> &'a Vec<Value> {
    answer[name]
        .as_array()
        .unwrap_or_else(|| panic!("no list {name} in {answer}"))
}

/// What the items of a page say.
pub fn texts(answer: &Value) -> Vec<String> {
    let said = list(answer, "items").iter();
    said.filter_map(|item| item["description"].as_str())
        .map(str::to_string)
        .collect()
}

#[track_caller]
pub fn add(world: &World, args: Value) -> Value {
    world.ok("garden_add", args)["item"].clone()
}

#[track_caller]
pub fn note(world: &World, text: &str) -> Value {
    add(world, json!({"type": "Note", "description": text}))
}

/// The name of what an answer holds.
#[track_caller]
pub fn uuid(thing: &Value) -> String {
    let name = thing["uuid"].as_str();
    name.unwrap_or_else(|| panic!("no uuid in {thing}"))
        .to_string()
}
