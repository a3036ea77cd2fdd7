//! What the tests of branches, notes, traces, merges and cards share: short ways to ask, and reads
//! that check themselves. Nothing here may know how the product stores anything.

use serde_json::{Value, json};
use understory_engine::Engine;
use understory_model::{Code, Fault};
use understory_testkit::World;

/// The workspace of the world's default caller.
pub const WS: &str = "garden-shed";

/// The eight types of card.
pub const TYPES: [&str; 8] = [
    "frame",
    "hypothesis",
    "question",
    "test",
    "evidence",
    "decision",
    "note",
    "update",
];

fn named(tool: &str) -> String {
    match tool.starts_with("tasks_") || tool.starts_with("graph_next") {
        true => tool.to_string(),
        false => format!("branchmind_{tool}"),
    }
}

fn within(mut args: Value) -> Value {
    args["workspace"] = WS.into();
    args
}

/// Calls a tool of this surface that must succeed; its prefix and the workspace are added.
#[track_caller]
pub fn call(world: &World, tool: &str, args: Value) -> Value {
    world.ok(&named(tool), within(args))
}

/// Calls a tool of this surface on another engine.
#[track_caller]
pub fn call_on(engine: &Engine, world: &World, tool: &str, args: Value) -> Value {
    World::call_on(engine, &world.caller, &named(tool), within(args))
        .unwrap_or_else(|fault| panic!("{tool}: {fault:?}"))
}

/// Calls a tool of this surface that must be refused, and write nothing.
#[track_caller]
pub fn refuse(world: &World, tool: &str, args: Value, code: Code) -> Fault {
    let shown: String = args.to_string().chars().take(200).collect();
    let fault = world.refused(&named(tool), within(args));
    assert_eq!(fault.code, code, "{tool} {shown}: {fault}");
    fault
}

/// Makes a branch; its cutoff.
#[track_caller]
pub fn branch(world: &World, name: &str, from: &str) -> i64 {
    let made = call(world, "branch_create", json!({"name": name, "from": from}));
    made["branch"]["base_seq"].as_i64().expect("base_seq")
}

/// Writes a note; its seq.
#[track_caller]
pub fn note(world: &World, branch: &str, content: &str) -> i64 {
    let args = json!({"branch": branch, "doc": "notes", "content": content});
    seq(&call(world, "notes_commit", args)["entry"])
}

/// Keeps a card of a target.
#[track_caller]
pub fn card(world: &World, target: &str, id: &str, kind: &str, supports: &[&str]) -> Value {
    let card = json!({"id": id, "type": kind, "title": format!("{kind} {id}")});
    call(
        world,
        "think_card",
        json!({"target": target, "card": card, "supports": supports}),
    )
}

#[track_caller]
pub fn seq(entry: &Value) -> i64 {
    entry["seq"]
        .as_i64()
        .unwrap_or_else(|| panic!("no seq: {entry}"))
}

#[track_caller]
pub fn list(answer: &Value, name: &str) -> Vec<Value> {
    let list = answer[name].as_array();
    list.unwrap_or_else(|| panic!("no {name}: {answer}"))
        .clone()
}

/// One field of every element.
#[track_caller]
pub fn each(rows: &[Value], field: &str) -> Vec<String> {
    let text = |row: &Value| row[field].as_str().map(str::to_string);
    rows.iter()
        .map(|row| text(row).unwrap_or_else(|| panic!("no {field}: {row}")))
        .collect()
}

/// All entries of a document, oldest first, read in pages of `limit` that are checked on the way.
#[track_caller]
pub fn pages(world: &World, tool: &str, args: &Value, limit: i64) -> Vec<Value> {
    let (mut all, mut cursor): (Vec<Value>, Option<i64>) = (Vec::new(), None);
    loop {
        let mut args = args.clone();
        args["limit"] = limit.into();
        if let Some(cursor) = cursor {
            args["cursor"] = cursor.into();
        }
        let answer = call(world, tool, args);
        let page = list(&answer, "entries");
        let told = &answer["pagination"];
        assert_eq!(told["limit"], limit);
        assert_eq!(told["count"], page.len());
        assert_eq!(told["cursor"], json!(cursor));
        assert_eq!(answer["truncated"], false);
        assert!(
            page.windows(2).all(|pair| seq(&pair[0]) < seq(&pair[1])),
            "entries ascend: {answer}"
        );
        all.splice(0..0, page.iter().cloned());
        if told["has_more"] == false {
            assert_eq!(told.get("next_cursor"), None);
            return all;
        }
        assert_eq!(page.len() as i64, limit, "only the last page is short");
        let next = told["next_cursor"].as_i64().expect("next_cursor");
        assert_eq!(next, seq(&page[0]), "the page's lowest seq");
        cursor = Some(next);
    }
}

/// What a branch's document says, oldest first.
#[track_caller]
pub fn said(world: &World, branch: &str, doc: &str) -> Vec<String> {
    let args = json!({"branch": branch, "doc": doc});
    each(&pages(world, "show", &args, 200), "content")
}

/// What a branch's notes say.
#[track_caller]
pub fn notes(world: &World, branch: &str) -> Vec<String> {
    said(world, branch, "notes")
}

/// All entries of a target's trace.
#[track_caller]
pub fn trace(world: &World, target: &str) -> Vec<Value> {
    let args = json!({"target": target, "doc_kind": "trace"});
    pages(world, "show", &args, 200)
}

/// Every event that `tasks_delta` tells, in pages of `limit`.
#[track_caller]
pub fn delta(world: &World, limit: i64) -> Vec<Value> {
    let (mut all, mut since) = (Vec::new(), json!(0));
    loop {
        let page = call(
            world,
            "tasks_delta",
            json!({"since": since, "limit": limit}),
        );
        let events = list(&page, "events");
        assert!(events.len() as i64 <= limit);
        assert!(
            events.windows(2).all(|pair| seq(&pair[0]) < seq(&pair[1])),
            "in order"
        );
        all.extend(events);
        since = page["next_since"].clone();
        if page["has_more"] == false {
            return all;
        }
    }
}

/// Line breaks in the texts of an answer, and the line that the last one ends in.
fn lines(value: &Value) -> usize {
    fn breaks(value: &Value) -> usize {
        match value {
            Value::String(text) => text.matches('\n').count(),
            Value::Array(items) => items.iter().map(breaks).sum(),
            Value::Object(map) => map.values().map(breaks).sum(),
            _ => 0,
        }
    }
    breaks(value) + 1
}

/// What an answer takes of a budget.
type Measure = fn(&Value) -> usize;

/// Which end of a list has what is newest.
#[derive(Clone, Copy, PartialEq)]
pub enum Newest {
    First,
    Last,
}

/// One row that is too long by itself is the whole with its texts and lists cut, and says so.
#[track_caller]
fn assert_cut(row: &Value, whole: &Value) {
    let fields = row.as_object().expect("a row").iter();
    for (name, value) in fields {
        let of = name
            .strip_suffix("_chars")
            .or_else(|| name.strip_suffix("_count"));
        match (value, whole.get(name)) {
            (Value::String(short), Some(Value::String(long))) if short != long => {
                let head = short.strip_suffix('…').expect("a text that was cut");
                assert!(long.starts_with(head), "{row}");
                let told = &row[format!("{name}_chars")];
                assert_eq!(told, long.chars().count(), "{row}");
            }
            (Value::Array(short), Some(Value::Array(all))) if short.len() < all.len() => {
                assert_eq!(row[format!("{name}_count")], all.len(), "{row}");
            }
            (Value::Object(_), Some(whole @ Value::Object(_))) => assert_cut(value, whole),
            (_, None) => assert!(of.is_some_and(|of| whole.get(of).is_some()), "{row}"),
            (_, was) => assert_eq!(was, Some(value), "{row}"),
        }
    }
}

/// Reads with budgets of every kind and many sizes. None is exceeded, except by the bare answer
/// that even no room gets; what is dropped is oldest and told; more room never shows less.
#[track_caller]
pub fn assert_budgets(world: &World, tool: &str, args: &Value, pointer: &str, newest: Newest) {
    let rows = |answer: &Value| -> Vec<Value> {
        let list = answer.pointer(pointer).and_then(Value::as_array);
        list.cloned().unwrap_or_default()
    };
    let ask = |kind: &str, size: usize| {
        let mut args = args.clone();
        args[kind] = size.into();
        call(world, tool, args)
    };
    let whole = call(world, tool, args.clone());
    assert_eq!(whole["truncated"], false, "{tool}: {whole}");
    let all = rows(&whole);
    assert!(all.len() > 2, "{tool} shows too little to be cut: {whole}");
    let measures: [(&str, Measure); 3] = [
        ("max_chars", |answer| answer.to_string().chars().count()),
        ("max_bytes", |answer| answer.to_string().len()),
        ("max_lines", lines),
    ];
    for (kind, measure) in measures {
        let full = measure(&whole);
        let step = (full / 60).max(1);
        let sizes = (0..full).step_by(step).chain([full - 1, full, full + 1]);
        let bare = ask(kind, 0);
        assert!(bare.to_string().len() <= 80, "{tool} {kind}: {bare}");
        let mut before = 0;
        for size in sizes {
            let answer = ask(kind, size);
            let kept = rows(&answer);
            let taken = measure(&answer);
            assert!(
                taken <= size || answer == bare,
                "{tool} {kind} {size}: {taken} {answer}"
            );
            let expected = match newest {
                Newest::First => &all[..kept.len()],
                Newest::Last => &all[all.len() - kept.len()..],
            };
            if let ([one], [whole]) = (kept.as_slice(), expected)
                && one != whole
            {
                assert_cut(one, whole);
            } else {
                assert_eq!(kept, expected, "{tool} {kind} {size}: the newest stay");
            }
            assert_eq!(answer["truncated"], size < full, "{tool} {kind} {size}");
            assert!(kept.len() >= before, "{tool} {kind} {size}: more room");
            before = kept.len();
        }
        assert_eq!(before, all.len());
        assert_eq!(ask(kind, full), whole, "{tool} {kind} {full}: it fits");
    }
}
