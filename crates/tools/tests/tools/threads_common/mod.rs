//! What the tests of threads share: short ways to open, post and read, and a refusal that is proved
//! to have left no item.

pub mod waking;

use serde_json::{Value, json};
use understory_engine::Engine;
use understory_model::{Caller, Code, Fault, Role};
use understory_testkit::World;

pub const ROLES: [Role; 4] = [
    Role::Operator,
    Role::Orchestrator,
    Role::Worker,
    Role::Auditor,
];

/// An agent of the world's workspace in a role.
pub fn caller(agent: &str, role: Role) -> Caller {
    Caller {
        role,
        ..World::caller(agent)
    }
}

/// Arguments, and more of them.
pub fn with(mut args: Value, more: Value) -> Value {
    let (Some(into), Some(more)) = (args.as_object_mut(), more.as_object()) else {
        panic!("arguments are objects");
    };
    into.extend(more.clone());
    args
}

/// A call of a worker that must succeed.
#[track_caller]
pub fn by(world: &World, agent: &str, tool: &str, args: Value) -> Value {
    as_one(world, &World::caller(agent), tool, args)
}

#[track_caller]
pub fn as_one(world: &World, caller: &Caller, tool: &str, args: Value) -> Value {
    let answer = world.call_as(caller, tool, args);
    answer.unwrap_or_else(|fault| panic!("{tool} by {}: {fault:?}", caller.agent))
}

/// A call that must succeed, on an engine of one's choice.
#[track_caller]
pub fn on(engine: &Engine, agent: &str, tool: &str, args: Value) -> Value {
    let answer = World::call_on(engine, &World::caller(agent), tool, args);
    answer.unwrap_or_else(|fault| panic!("{tool} by {agent}: {fault:?}"))
}

/// A call that must be refused with this code, and leave no item.
#[track_caller]
pub fn refused(world: &World, caller: &Caller, tool: &str, args: Value, code: Code) -> Fault {
    let before = world.head();
    let shown = args.to_string();
    let shown: String = shown.chars().take(200).collect();
    let fault = match world.call_as(caller, tool, args) {
        Err(fault) => fault,
        Ok(answer) => panic!("{tool} was not refused: {answer} {shown}"),
    };
    assert_eq!(fault.code, code, "{tool} {shown}: {fault}");
    assert_eq!(
        world.head(),
        before,
        "{tool} was refused and wrote: {fault}"
    );
    fault
}

#[track_caller]
pub fn refuse(world: &World, tool: &str, args: Value, code: Code) -> Fault {
    refused(world, &world.caller, tool, args, code)
}

/// A refusal of an argument; says which.
#[track_caller]
pub fn refuse_field(world: &World, tool: &str, args: Value, field: &str) -> Fault {
    let fault = refuse(world, tool, args, Code::Validation);
    let details = fault.details.clone().unwrap_or_default();
    assert_eq!(details["field"], field, "{}", fault.message);
    fault
}

/// A thread that `ada` opens with others; its id.
#[track_caller]
pub fn thread(world: &World, participants: &[&str]) -> String {
    let args = json!({"title": "Review", "type": "workflow", "participants": participants});
    text(&world.ok("create_thread", args)["thread_id"])
}

#[track_caller]
pub fn text(value: &Value) -> String {
    let text = value.as_str();
    text.unwrap_or_else(|| panic!("no text: {value}"))
        .to_string()
}

/// Words in a thread; the answer.
#[track_caller]
pub fn say(world: &World, agent: &str, thread: &str, body: &str) -> Value {
    by(
        world,
        agent,
        "post_message",
        json!({"thread_id": thread, "body": body}),
    )
}

/// An event with more metadata, in answer to a message or to none; its message id.
#[track_caller]
pub fn event(
    world: &World,
    thread: &str,
    kind: &str,
    answers: Option<&str>,
    more: Value,
) -> String {
    let metadata = with(json!({"event_type": kind}), more);
    let args = json!({"thread_id": thread, "kind": "event", "body": format!("about {kind}"),
        "metadata": metadata, "in_reply_to": answers});
    text(&world.ok("post_message", args)["message_id"])
}

/// A finding that nobody answered yet; its message id.
#[track_caller]
pub fn finding(world: &World, thread: &str) -> String {
    event(world, thread, "finding_reported", None, json!({}))
}

/// All messages of a thread, in order.
#[track_caller]
pub fn messages(world: &World, thread: &str) -> Vec<Value> {
    let operator = caller("olga", Role::Operator);
    let (mut all, mut since) = (Vec::new(), json!(0));
    loop {
        let args = json!({"thread_id": thread, "since_seq": since, "limit": 200, "max_chars": 50_000_000, "full": true});
        let page = as_one(world, &operator, "read_messages", args);
        all.extend(
            page["messages"]
                .as_array()
                .expect("messages")
                .iter()
                .cloned(),
        );
        since = page["next_seq"].clone();
        if page["has_more"] == false {
            return all;
        }
    }
}

/// The values of one field of a list.
#[track_caller]
pub fn each(list: &Value, field: &str) -> Vec<Value> {
    let list = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    list.iter().map(|one| one[field].clone()).collect()
}

/// A thread as somebody who may see it all sees it.
#[track_caller]
pub fn get(world: &World, thread: &str) -> Value {
    let operator = caller("olga", Role::Operator);
    as_one(world, &operator, "get_thread", json!({"thread_id": thread}))
}

#[track_caller]
pub fn open_findings(world: &World, thread: &str) -> i64 {
    get(world, thread)["open_findings"]
        .as_i64()
        .expect("a count")
}

#[track_caller]
pub fn ack(world: &World, agent: &str, thread: &str, seq: i64) -> Value {
    by(
        world,
        agent,
        "ack_read",
        json!({"thread_id": thread, "last_read_seq": seq}),
    )
}

/// Unread threads and messages, as `list_threads` counts them.
#[track_caller]
pub fn unread(world: &World, agent: &str) -> (i64, i64) {
    let found = by(world, agent, "list_threads", json!({}))["unread"].clone();
    let count = |name: &str| found[name].as_i64().expect("a count");
    (count("threads"), count("messages"))
}

/// A look at what came, by a new session of an agent.
#[track_caller]
pub fn look_anew(world: &World, agent: &str, session: &str, more: Value) -> Value {
    let caller = Caller {
        session: session.into(),
        ..World::caller(agent)
    };
    let args = with(json!({"timeout_s": 0}), more);
    as_one(world, &caller, "wait_for_messages", args)
}

/// Waits until as many calls wait for messages; another way to know it there is not.
pub fn until_waiting(world: &World, calls: i64) {
    let mut raw = world.backend.raw();
    for _ in 0..60_000 {
        if raw.number("SELECT COUNT(*) FROM live_waiting") == calls {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("nobody waits");
}

/// Has somebody wait on an engine while something else happens; what the wait answered. Patient
/// enough for a loaded machine: whoever is not woken says so by `timed_out`.
pub fn waiting(
    world: &World,
    engine: &Engine,
    caller: &Caller,
    args: Value,
    meanwhile: impl FnOnce(),
) -> Value {
    let args = with(args, json!({"timeout_s": 120}));
    std::thread::scope(|scope| {
        let wait = scope.spawn(|| World::call_on(engine, caller, "wait_for_messages", args));
        until_waiting(world, 1);
        meanwhile();
        wait.join().expect("no panic").expect("waited")
    })
}
