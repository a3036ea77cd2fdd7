//! What the tests of reading records share: short ways to write what is then read, ways to page to
//! the end, and the budgets that every read keeps.

pub mod model;
pub mod steps;

use serde_json::{Value, json};
use understory_engine::Engine;
use understory_testkit::World;

/// Texts that mean something to a query language, in some position or other.
pub const OPERATORS: &[&str] = &[
    "",
    " ",
    "\"",
    "\"\"",
    "'",
    "''",
    "\"open",
    "NEAR",
    "NEAR(",
    "NEAR(a b, 3)",
    "*",
    "a*",
    "*a",
    ":",
    "title:x",
    "body : x",
    "-x",
    "+x",
    "^x",
    "(((",
    ")",
    "AND",
    "OR",
    "NOT",
    "a AND",
    "NOT a",
    "a OR OR b",
    "!",
    "&",
    "|",
    "<->",
    "a <-> b",
    "a:*",
    "a:ABCD",
    "\\",
    "\\'",
    "%",
    "_",
    "%_%",
    "?1",
    "$1",
    ":name",
    "\0",
    "a\0b",
    "{}",
    "{a}",
    "[a]",
    "🙂",
    "🙂*",
    "👩‍👩‍👧‍👦",
    "漢字",
    "漢",
    "—",
    "\u{301}",
    "\u{feff}",
    "\n\t",
];

/// Budgets from none to ample.
pub const SIZES: [usize; 10] = [0, 1, 20, 50, 80, 120, 300, 700, 2_000, 20_000];

/// Calls a tool as an agent, in the session of its name.
#[track_caller]
pub fn by(world: &World, agent: &str, tool: &str, args: Value) -> Value {
    on(&world.engine, agent, tool, args)
}

/// Calls a tool as an agent on an engine of one's choice.
#[track_caller]
pub fn on(engine: &Engine, agent: &str, tool: &str, args: Value) -> Value {
    World::call_on(engine, &World::caller(agent), tool, args)
        .unwrap_or_else(|fault| panic!("{tool} by {agent}: {fault:?}"))
}

/// The arguments of a new record: what is given, and something for the rest.
pub fn new_record(mut fields: Value) -> Value {
    for (name, value) in [
        ("parent_id", Value::Null),
        ("type", "note".into()),
        ("title", "Untitled".into()),
        ("summary", "".into()),
        ("body", "".into()),
    ] {
        if fields.get(name).is_none() {
            fields[name] = value;
        }
    }
    fields
}

/// Makes a record of these fields; its id.
#[track_caller]
pub fn make(world: &World, fields: Value) -> String {
    make_by(world, "ada", fields)
}

#[track_caller]
pub fn make_by(world: &World, agent: &str, fields: Value) -> String {
    text(&by(world, agent, "create_record", new_record(fields))["record"]["id"])
}

/// A root of this title.
#[track_caller]
pub fn root(world: &World, title: &str) -> String {
    make(world, json!({ "title": title }))
}

#[track_caller]
pub fn child(world: &World, parent: &str, title: &str) -> String {
    make(world, json!({"parent_id": parent, "title": title}))
}

#[track_caller]
pub fn update(world: &World, id: &str, mut fields: Value) -> Value {
    fields["id"] = id.into();
    world.ok("update_record", fields)
}

/// Puts a record into a state, with whatever that needs.
#[track_caller]
pub fn to(world: &World, id: &str, state: &str) -> Value {
    let mut args = json!({"id": id, "to_state": state});
    match state {
        "RESOLVED" => args["resolved_by"] = answer_to(world, id).into(),
        "OPEN" => {}
        _ => args["reason"] = "because".into(),
    }
    world.ok("transition", args)
}

/// Some record that can settle another; made where there is none.
#[track_caller]
pub fn answer_to(world: &World, id: &str) -> String {
    let states = json!({"states": ["OPEN", "LATER", "RESOLVED"], "limit": 2});
    let there = ids(&world.ok("list_records", states)["records"]);
    let other = there.into_iter().find(|other| other != id);
    other.unwrap_or_else(|| root(world, "The answer"))
}

#[track_caller]
pub fn activate(world: &World, agent: &str, id: &str) -> Value {
    by(world, agent, "activate", json!({ "id": id }))
}

/// The project's tick.
#[track_caller]
pub fn tick(world: &World) -> i64 {
    number(&world.ok("get_project", json!({}))["tick"])
}

#[track_caller]
pub fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no text: {value}"))
        .to_string()
}

#[track_caller]
pub fn number(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

#[track_caller]
pub fn list(value: &Value) -> &Vec<Value> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("no list: {value}"))
}

/// One field of each element.
#[track_caller]
pub fn each(value: &Value, field: &str) -> Vec<String> {
    list(value).iter().map(|one| text(&one[field])).collect()
}

#[track_caller]
pub fn ids(value: &Value) -> Vec<String> {
    each(value, "id")
}

/// Characters of the compact JSON.
pub fn chars(value: &Value) -> usize {
    value.to_string().chars().count()
}

/// Pages through a read to the end; every page keeps to its limit.
#[track_caller]
pub fn page_through(
    world: &World,
    tool: &str,
    key: &str,
    args: &Value,
    limit: usize,
) -> Vec<Value> {
    let (mut seen, mut args) = (Vec::new(), args.clone());
    args["limit"] = limit.into();
    loop {
        let page = world.ok(tool, args.clone());
        let rows = list(&page[key]);
        assert!(rows.len() <= limit, "{tool}: {} rows", rows.len());
        seen.extend(rows.iter().cloned());
        if page["next_cursor"].is_null() {
            return seen;
        }
        assert_eq!(rows.len(), limit, "{tool}: only the last page is short");
        args["cursor"] = page["next_cursor"].clone();
    }
}

/// Pages through a read whose pages only a budget ends; each fits it.
#[track_caller]
pub fn page_by_chars(world: &World, tool: &str, key: &str, args: &Value, max: usize) -> Vec<Value> {
    let (mut seen, mut args) = (Vec::new(), args.clone());
    args["max_chars"] = max.into();
    loop {
        let page = world.ok(tool, args.clone());
        assert!(chars(&page) <= max, "{tool}: {} of {max}", chars(&page));
        assert!(!list(&page[key]).is_empty(), "{tool} stands still: {page}");
        seen.extend(list(&page[key]).iter().cloned());
        if page["next_cursor"].is_null() {
            return seen;
        }
        assert_eq!(page["truncated"], true);
        args["cursor"] = page["next_cursor"].clone();
    }
}

/// A read never answers with more than its budget, and says when it left something out. Only the
/// empty envelope may be longer than a budget in which it has no room.
#[track_caller]
pub fn assert_within(world: &World, tool: &str, args: &Value, empty: Value) {
    let mut args = args.clone();
    args["max_chars"] = json!(10_000_000);
    let whole = world.ok(tool, args.clone());
    assert!(whole.get("truncated").is_none(), "{tool}: {whole}");
    for max in SIZES.into_iter().chain([chars(&whole) - 1, chars(&whole)]) {
        args["max_chars"] = max.into();
        let answer = world.ok(tool, args.clone());
        let fits = chars(&answer) <= max || (answer == empty && max < chars(&empty));
        assert!(fits, "{tool} {max}: {} in {answer}", chars(&answer));
        if max < chars(&whole) {
            assert_eq!(answer["truncated"], true, "{tool} {max}: {answer}");
        } else {
            assert_eq!(answer, whole, "{tool} {max}");
        }
    }
    args["max_chars"] = json!(-7);
    assert_eq!(world.ok(tool, args)["truncated"], true);
}

/// Makes many records quickly: several threads, whose writes share their commits.
#[track_caller]
pub fn crowd(world: &World, agent: &str, count: usize, fields: impl Fn(usize) -> Value + Sync) {
    const THREADS: usize = 8;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let fields = &fields;
            scope.spawn(move || {
                for at in (thread..count).step_by(THREADS) {
                    make_by(world, agent, fields(at));
                }
            });
        }
    });
}
