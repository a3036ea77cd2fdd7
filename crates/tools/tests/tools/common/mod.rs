//! What the graph tests share: short ways to ask, and counts made again from scratch.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use understory_testkit::World;

/// The sort orders of `graph_query`.
pub const SORTS: [&str; 4] = ["readiness", "depth", "recent", "created"];

/// Texts that break what is built from strings: SQL, LIKE, FTS, JSON, terminals and eyes.
pub const NASTY: &[&str] = &[
    "'; DROP TABLE core_node; --",
    "100% _done_ \\ \\% %s %n",
    "\"quoted\" AND NOT (a OR b*) NEAR/3 ^c:d",
    "$1 ?1 :name @x {} ${jndi}",
    "tab\tnewline\nbell\u{7}escape\u{1b}[31m delete\u{7f}",
    "\u{202e}right to left עברית العربية\u{202c}",
    "emoji 👩‍👩‍👧‍👦 🏳️‍🌈 𝒳",
    "漢字かな交じり文 한국어",
    "e\u{301}combining a\u{30a}\u{323} Zalgo\u{489}\u{35c}",
    "ZERO\u{200b}WIDTH\u{feff}BOM \u{fffd} \u{10ffff}",
    "Straße İstanbul ΣΊΣΥΦΟΣ ǅ ﬁ",
    "null",
    "{\"a\":[1,2]}",
];

/// A node as `graph_context` shows it.
#[track_caller]
pub fn node(world: &World, id: &str) -> Value {
    world.ok("graph_context", json!({"node_id": id, "depth": 0}))["node"].clone()
}

#[track_caller]
pub fn rev(world: &World, id: &str) -> i64 {
    node(world, id)["rev"].as_i64().expect("rev")
}

/// The counts of the default project.
#[track_caller]
pub fn counts(world: &World) -> Value {
    world.ok("graph_open", json!({"project": "default"}))["summary"].clone()
}

/// `[total, resolved, blocked, actionable]`.
#[track_caller]
pub fn tally(world: &World) -> [i64; 4] {
    let counts = counts(world);
    let number = |name: &str| counts[name].as_i64().expect("a count");
    assert_eq!(number("unresolved"), number("total") - number("resolved"));
    [
        number("total"),
        number("resolved"),
        number("blocked"),
        number("actionable"),
    ]
}

/// Resolves nodes in one call.
#[track_caller]
pub fn resolve(world: &World, ids: &[&str]) -> Value {
    set_resolved(world, ids, true)
}

#[track_caller]
pub fn set_resolved(world: &World, ids: &[&str], resolved: bool) -> Value {
    let updates: Vec<Value> = ids
        .iter()
        .map(|id| json!({"node_id": id, "resolved": resolved}))
        .collect();
    world.ok("graph_update", json!({ "updates": updates }))
}

#[track_caller]
pub fn depend(world: &World, from: &str, to: &str) -> Value {
    world.ok(
        "graph_connect",
        json!({"edges": [{"from": from, "to": to, "type": "depends_on"}]}),
    )
}

#[track_caller]
pub fn restructure(world: &World, operations: Value) -> Value {
    world.ok("graph_restructure", json!({ "operations": operations }))
}

/// Plans nodes; their ids, by ref.
#[track_caller]
pub fn plan(world: &World, nodes: Value) -> BTreeMap<String, String> {
    let answer = world.ok("graph_plan", json!({ "nodes": nodes }));
    let created = answer["created"].as_array().expect("created");
    let text = |value: &Value| value.as_str().expect("text").to_string();
    created
        .iter()
        .map(|one| (text(&one["ref"]), text(&one["id"])))
        .collect()
}

/// Adds one node under a parent; its id.
#[track_caller]
pub fn child(world: &World, parent: &str, summary: &str) -> String {
    plan(
        world,
        json!([{"ref": "c", "parent_ref": parent, "summary": summary}]),
    )
    .remove("c")
    .unwrap()
}

/// The `id`s of a list.
#[track_caller]
pub fn ids(list: &Value) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    list.iter()
        .map(|one| one["id"].as_str().expect("id").to_string())
        .collect()
}

/// The ids that a call made actionable, sorted.
pub fn newly(answer: &Value) -> Vec<String> {
    let mut found = if answer["newly_actionable"].is_null() {
        Vec::new()
    } else {
        ids(&answer["newly_actionable"])
    };
    assert!(
        answer["newly_actionable"].is_null() || !found.is_empty(),
        "an empty list says nothing"
    );
    found.sort();
    found
}

/// The ids of what is next, best first.
#[track_caller]
pub fn next_ids(world: &World, args: Value) -> Vec<String> {
    next_of(&world.ok("graph_next", args))
}

pub fn next_of(answer: &Value) -> Vec<String> {
    let nodes = answer["nodes"].as_array().expect("nodes");
    nodes
        .iter()
        .map(|one| one["node"]["id"].as_str().expect("id").to_string())
        .collect()
}

/// The ids that a filter finds, oldest first.
#[track_caller]
pub fn found(world: &World, filter: Value) -> Vec<String> {
    let answer = world.ok(
        "graph_query",
        json!({"filter": filter, "sort": "created", "limit": 100}),
    );
    assert_eq!(
        answer["total"],
        answer["nodes"].as_array().unwrap().len(),
        "{filter}"
    );
    ids(&answer["nodes"])
}

/// Pages to the end; checks `total` and the page size on the way.
#[track_caller]
pub fn page_through(world: &World, args: &Value, limit: usize) -> Vec<String> {
    let (mut seen, mut cursor, mut total) = (Vec::new(), Value::Null, None);
    loop {
        let mut args = args.clone();
        args["limit"] = limit.into();
        if !cursor.is_null() {
            args["cursor"] = cursor;
        }
        let page = world.ok("graph_query", args);
        let got = ids(&page["nodes"]);
        assert!(got.len() <= limit);
        assert_eq!(*total.get_or_insert(page["total"].clone()), page["total"]);
        seen.extend(got.iter().cloned());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            assert_eq!(
                total.unwrap(),
                seen.len(),
                "total of {args:?}",
                args = page["total"]
            );
            return seen;
        }
        assert_eq!(got.len(), limit, "only the last page is short");
    }
}

/// Characters of the compact JSON.
pub fn chars(value: &Value) -> usize {
    value.to_string().chars().count()
}

/// Tokens as the contract counts them.
pub fn tokens(value: &Value) -> usize {
    chars(value).div_ceil(4)
}

/// What one node is, read back through the tools.
pub struct Seen {
    pub resolved: bool,
    pub parent: Option<String>,
    pub deps: Vec<String>,
}

/// Every node of the default project.
#[track_caller]
pub fn everything(world: &World) -> BTreeMap<String, Seen> {
    let mut all = BTreeMap::new();
    for id in page_through(world, &json!({"sort": "created"}), 100) {
        let context = world.ok("graph_context", json!({"node_id": id, "depth": 0}));
        let deps = context["depends_on"].as_array().unwrap();
        let deps = deps
            .iter()
            .map(|dep| dep["node"]["id"].as_str().unwrap().to_string())
            .collect();
        let node = &context["node"];
        let parent = node["parent"].as_str().map(str::to_string);
        all.insert(
            id,
            Seen {
                resolved: node["resolved"] == true,
                parent,
                deps,
            },
        );
    }
    all
}

/// Fails unless the counts, and the filters on readiness, agree with a count from scratch.
#[track_caller]
pub fn assert_counted(world: &World) {
    let all = everything(world);
    let open = |id: &String| all.get(id).is_some_and(|node| !node.resolved);
    let pick = |wanted: &dyn Fn(&String, &Seen) -> bool| {
        let mut ids: Vec<String> = all
            .iter()
            .filter(|(id, node)| wanted(id, node))
            .map(|(id, _)| id.clone())
            .collect();
        ids.sort();
        ids
    };
    let leaf = |id: &String| {
        !all.values()
            .any(|n| !n.resolved && n.parent.as_ref() == Some(id))
    };
    let blocked = pick(&|_, node| !node.resolved && node.deps.iter().any(open));
    let actionable = pick(&|id, node| !node.resolved && leaf(id) && !node.deps.iter().any(open));
    let resolved = pick(&|_, node| node.resolved);
    let sorted = |filter: Value| {
        let mut ids = found(world, filter);
        ids.sort();
        ids
    };
    assert_eq!(sorted(json!({"is_blocked": true})), blocked);
    assert_eq!(sorted(json!({"is_actionable": true})), actionable);
    assert_eq!(sorted(json!({"resolved": true})), resolved);
    assert_eq!(sorted(json!({"is_leaf": true})), pick(&|id, _| leaf(id)));
    let count = |ids: &Vec<String>| ids.len() as i64;
    let expected = [
        all.len() as i64,
        count(&resolved),
        count(&blocked),
        count(&actionable),
    ];
    assert_eq!(tally(world), expected);
}
