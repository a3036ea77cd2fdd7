//! What the tests of records share: short ways to make, load and read them, and a refusal that is
//! proved to have left neither an item nor a tick.

use serde_json::{Value, json};
use understory_engine::{Engine, Options};
use understory_model::{Caller, Code, Fault, Role};
use understory_testkit::World;

/// A budget that holds everything.
pub const ALL: i64 = 50_000_000;

/// The arguments of a new record.
pub fn fresh(parent: Value, title: &str) -> Value {
    json!({
        "parent_id": parent,
        "type": "question",
        "title": title,
        "summary": format!("About {title}."),
        "body": format!("All of {title}."),
    })
}

/// Arguments, and more of them.
pub fn with(mut args: Value, more: Value) -> Value {
    let (Some(args_map), Some(more)) = (args.as_object_mut(), more.as_object()) else {
        panic!("arguments are objects");
    };
    args_map.extend(more.clone());
    args
}

/// A root record of the default caller; its id.
#[track_caller]
pub fn root(world: &World, title: &str) -> String {
    created(&world.ok("create_record", fresh(Value::Null, title)))
}

/// A record under an active one; its id.
#[track_caller]
pub fn child(world: &World, parent: &str, title: &str) -> String {
    created(&world.ok("create_record", fresh(parent.into(), title)))
}

#[track_caller]
pub fn created(answer: &Value) -> String {
    let id = answer["record"]["id"].as_str();
    id.unwrap_or_else(|| panic!("no record: {answer}"))
        .to_string()
}

/// A call of another agent, in a session of its own, that must succeed.
#[track_caller]
pub fn by(world: &World, agent: &str, tool: &str, args: Value) -> Value {
    let caller = World::caller(agent);
    world
        .call_as(&caller, tool, args)
        .unwrap_or_else(|fault| panic!("{tool} by {agent}: {fault:?}"))
}

/// A call of another agent that must be refused without a trace.
#[track_caller]
pub fn refused_by(world: &World, agent: &str, tool: &str, args: Value) -> Fault {
    let (head, ticks) = (world.head(), tick(world));
    let fault = match world.call_as(&World::caller(agent), tool, args) {
        Err(fault) => fault,
        Ok(answer) => panic!("{tool} by {agent} was not refused: {answer}"),
    };
    assert_eq!((world.head(), tick(world)), (head, ticks), "{fault}");
    fault
}

/// A refusal with this code, which spent neither an item nor a tick.
#[track_caller]
pub fn refuse(world: &World, tool: &str, args: Value, code: Code) -> Fault {
    let ticks = tick(world);
    let fault = world.refused(tool, args);
    assert_eq!(fault.code, code, "{fault}");
    assert_eq!(tick(world), ticks, "a refused call spends no tick");
    fault
}

/// A refusal of an argument; says which.
#[track_caller]
pub fn refuse_field(world: &World, tool: &str, args: Value, field: &str) -> Fault {
    let fault = refuse(world, tool, args, Code::Validation);
    let details = fault.details.clone().unwrap_or_default();
    assert_eq!(details["field"], field, "{}", fault.message);
    fault
}

/// Some record that can settle another; made where there is none.
#[track_caller]
pub fn answer_to(world: &World, id: &str) -> String {
    let states = json!({"states": ["OPEN", "LATER", "RESOLVED"], "limit": 2});
    let there = world.ok("list_records", states)["records"].clone();
    let ids = there.as_array().expect("records").iter();
    let other = ids
        .filter_map(|one| one["id"].as_str())
        .find(|other| *other != id);
    other.map_or_else(|| root(world, "The answer"), str::to_string)
}

/// The clock of the default project.
#[track_caller]
pub fn tick(world: &World) -> i64 {
    tick_of(world, "default")
}

#[track_caller]
pub fn tick_of(world: &World, project: &str) -> i64 {
    // Read as a caller of that project, so that one which does not exist yet has tick 0.
    let caller = Caller {
        project: project.into(),
        ..World::caller("reader")
    };
    let found = world
        .call_as(&caller, "get_project", json!({}))
        .expect("the project");
    found["tick"].as_i64().expect("tick")
}

/// A record whole, read without touching any session.
#[track_caller]
pub fn record(world: &World, id: &str) -> Value {
    let args = json!({"id": id, "from": "2099-01-01T00:00:00Z", "max_chars": ALL});
    world.ok("get_record_diff", args)["to_version"].clone()
}

#[track_caller]
pub fn reference(world: &World, id: &str) -> Value {
    world.ok("get_record_ref", json!({ "id": id }))
}

#[track_caller]
pub fn activate(world: &World, id: &str) -> Value {
    world.ok("activate", json!({ "id": id }))
}

/// The types of a project's activity, oldest first.
#[track_caller]
pub fn told(world: &World) -> Vec<String> {
    told_since(world, 0)
}

/// As `told`, without the oldest.
#[track_caller]
pub fn told_since(world: &World, known: usize) -> Vec<String> {
    let mut all: Vec<String> = activity(world, json!({}))
        .iter()
        .map(|one| one["type"].as_str().expect("type").to_string())
        .collect();
    all.reverse();
    all.split_off(known)
}

/// The default project's activity, newest first.
#[track_caller]
pub fn activity(world: &World, filter: Value) -> Vec<Value> {
    let args = with(json!({"limit": 200, "max_chars": ALL}), filter);
    let answer = world.ok("get_recent_activity", args);
    assert!(
        answer["next_cursor"].is_null(),
        "more activity than a page holds"
    );
    answer["activity"].as_array().expect("activity").clone()
}

/// An open session as the overview shows it; null when there is none of the name.
#[track_caller]
pub fn session(world: &World, name: &str) -> Value {
    let overview = world.ok("get_project_overview", json!({ "max_chars": ALL }));
    let open = overview["open_sessions"].as_array().expect("open_sessions");
    let found = open.iter().find(|one| one["id"] == name);
    found.cloned().unwrap_or_default()
}

/// The names of the sessions that have a record active.
#[track_caller]
pub fn holders(world: &World, id: &str) -> Vec<String> {
    let answer = world.ok("get_active_sessions", json!({ "record_id": id }));
    let list = answer["sessions"].as_array().expect("sessions");
    let mut names: Vec<String> = list
        .iter()
        .map(|one| one["session_id"].as_str().expect("session_id").to_string())
        .collect();
    names.sort();
    names
}

/// The types of an answer's warnings, in their order.
pub fn warned(answer: &Value) -> Vec<String> {
    let list = answer["context"]["warnings"].as_array();
    list.into_iter()
        .flatten()
        .map(|one| {
            assert!(one["message"].is_string() && one["details"].is_object());
            one["type"].as_str().expect("type").to_string()
        })
        .collect()
}

/// An engine whose sessions are stale after so many missed ticks.
pub fn stale_after(world: &World, ticks: i64) -> Engine {
    let options = Options {
        stale_after: ticks,
        ..world.options()
    };
    Engine::open(&world.backend.store(), options).expect("the store opens")
}

/// The default caller with a role that only reads.
pub fn auditor() -> Caller {
    Caller {
        role: Role::Auditor,
        ..World::caller("ada")
    }
}
